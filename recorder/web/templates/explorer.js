"use strict";
// Plays a move on the board: a click on a piece, then on a square, leads to the page of the position after it.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SIDE = 45, EDGE = 15, PIECES = { q: "queen", r: "rook", b: "bishop", n: "knight" };
  const after = JSON.parse(document.getElementById("data").textContent);
  const board = document.getElementById("board"), how = document.getElementById("how");
  const moves = Object.keys(after), marks = board.querySelector(".marks"), said = how.textContent;
  let from = null;
  const mark = (kind, square) => {
    const rect = document.createElementNS(SVG, "rect");
    const place = { x: EDGE + SIDE * (square.charCodeAt(0) - 97), y: EDGE + SIDE * (8 - Number(square[1])) };
    for (const [name, value] of Object.entries({ class: kind, ...place, width: SIDE, height: SIDE })) rect.setAttribute(name, value);
    marks.append(rect);
  };
  const choose = (square) => {
    from = square;
    marks.replaceChildren();
    how.textContent = said;
    if (square === null) return;
    mark("mark", square);
    for (const to of new Set(moves.filter((move) => move.startsWith(square)).map((move) => move.slice(2, 4)))) mark("to", to);
  };
  const promote = (found) => how.replaceChildren("Promote to ", ...found.flatMap((move) => {
    const link = document.createElement("a");
    link.href = after[move];
    link.textContent = PIECES[move[4]];
    return [link, " "];
  }));
  board.addEventListener("click", (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(board.getScreenCTM().inverse());
    const x = Math.floor((place.x - EDGE) / SIDE), y = Math.floor((place.y - EDGE) / SIDE);
    if (x < 0 || x > 7 || y < 0 || y > 7) return;
    const square = String.fromCharCode(97 + x) + (8 - y);
    const found = from === null ? [] : moves.filter((move) => move.slice(0, 4) === from + square);
    if (found.length === 1) location.href = after[found[0]];
    else if (found.length) promote(found);
    else choose(square !== from && moves.some((move) => move.startsWith(square)) ? square : null);
  });
  board.classList.add("playable");
  how.hidden = moves.length === 0;
})();
