"use strict";
// Plays what the page's data says. It knows no chess: boards, times and words come ready from the archive.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SIDE = 45, EDGE = 15;
  const WORTH = { Q: 9, R: 5, B: 3, N: 3, P: 1 };
  const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32];
  const TENTHS_BELOW_MS = 20000;
  const CAPS_MS = [10000, 3000];
  const data = JSON.parse(document.getElementById("data").textContent);
  const play = data.play;
  unpack();
  const $ = (id) => document.getElementById(id);
  const quiet = matchMedia("(prefers-reduced-motion: reduce)");

  // --- what the data leaves out, because it follows from what is before

  function unpack() {
    data.boards.forEach((board) => {
      let men = null, hands = [null, null], ply = -1, clocks;
      board.states.forEach((packed, n) => {
        const state = board.states[n] = typeof packed === "string" ? {} : packed;
        if (state !== packed) packed.split(" ").forEach((one, i) => { state[["to", "san", "took", "left"][i]] = i < 2 ? one : Number(one); });
        state.ply = ply = state.ply === undefined ? ply + 1 : state.ply;
        const side = ply % 2 ? 0 : 1;
        if (state.clocks === undefined && state.left === undefined && state.took !== undefined && clocks && clocks[side] != null && board.inc[side] !== null) {
          state.left = clocks[side] - state.took + board.inc[side];
        }
        if (state.left !== undefined) state.clocks = ply % 2 ? [state.left, clocks[1]] : [clocks[0], state.left];
        clocks = state.clocks;
        if (state.marks === undefined && state.san !== undefined) {
          const [one, other] = [state.to.slice(0, 2), state.to.slice(3, 5)];
          state.marks = state.to[2] === "-" ? one + other : other + one;
        }
        if (state.men !== undefined) men = state.men === null ? null : readMen(state.men);
        else men = new Map(men);
        for (let i = 0; i < (state.to || "").length; i += 3) {
          if ("- ".includes(state.to[i + 2])) men.delete(state.to.slice(i, i + 2));
          else men.set(state.to.slice(i, i + 2), state.to[i + 2]);
        }
        state.men = men;
        state.hands = hands = state.hands || hands;
        state.main = state.line === undefined;
        if (state.exact === undefined) state.exact = board.exact;
        const number = Math.floor((state.ply + 1) / 2);
        state.white = state.san === undefined ? undefined : state.ply % 2 === 1;
        state.name = state.san === undefined ? undefined : `${number}${state.white ? "." : "…"} ${state.san}`;
        state.say = state.san === undefined ? (state.ply ? "The first position that was seen" : "Start position")
          : spoken(state, number);
      });
    });
    const next = data.boards.map(() => 0), shown = data.boards.map(() => null);
    const times = [0, ...CAPS_MS].map(() => 0);
    const pass = (ms) => [0, ...CAPS_MS].map((most, i) => (times[i] += most ? Math.min(ms, most) : ms));
    play.forEach((packed, i) => {
      const one = play[i] = typeof packed === "number" ? { after: packed } : packed;
      one.board = one.board || 0;
      one.at = pass(one.after);
      if (one.event) return;
      const board = data.boards[one.board], before = shown[one.board];
      if (one.state === undefined) { one.state = next[one.board]; next[one.board] += 1; }
      const state = shown[one.board] = board.states[one.state];
      if (one.back || !before || state.san === undefined || state.ply !== before.ply + 1) return;
      if (board.thinks) one.think = state.took;
      if (!board.still) one.run = ran(board, before, state);
    });
    data.end = pass(data.end);
  }
  // The clock that runs until a board comes: its side, from and to, before the increment.
  function ran(board, before, state) {
    const side = state.white ? 0 : 1, from = before.clocks ? before.clocks[side] : null;
    if (from == null) return undefined;
    if (state.took !== undefined) return state.took > 0 ? [side, from, from - state.took] : undefined;
    if (!state.clocks || state.clocks[side] == null || board.inc[side] == null) return undefined;
    const to = state.clocks[side] - board.inc[side];
    return to < from ? [side, from, to] : undefined;
  }
  function spoken(state, number) {
    const left = state.clocks ? state.clocks[state.white ? 0 : 1] : null;
    return [
      `${number}, ${state.white ? "White" : "Black"}: ${spokenMove(state.san)}.`, state.line,
      state.took === undefined ? "" : `Took ${duration(state.took)}.`,
      left === null ? "" : `${duration(Math.floor(left / 1000) * 1000)} left.`,
    ].filter(Boolean).join(" ");
  }
  function duration(ms) {
    if (Math.abs(ms) < 10000 && ms % 1000) return `${(ms / 1000).toFixed(1)} seconds`;
    let rest = Math.floor(Math.abs(ms) / 1000);
    const parts = [];
    for (const [size, word] of [[3600, "hour"], [60, "minute"], [1, "second"]]) {
      const value = Math.floor(rest / size);
      rest %= size;
      if (value) parts.push(`${value} ${word}${value > 1 ? "s" : ""}`);
    }
    return (ms < 0 ? "minus " : "") + (parts.join(" ") || "0 seconds");
  }
  function readMen(text) {
    const found = new Map();
    text.split("/").forEach((row, y) => {
      let x = 0;
      for (const char of row) {
        if (char >= "1" && char <= "8") x += Number(char);
        else { found.set(String.fromCharCode(97 + x) + (8 - y), char); x += 1; }
      }
    });
    return found;
  }

  // --- what only a script uses: the buttons of moves, those below the board, and their keys

  function make(name, attributes, ...inside) {
    const one = ["svg", "path"].includes(name) ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    one.append(...inside);
    return one;
  }
  // The table has a column for each number of a move; here a move is one button with all of them.
  function makeMoves(table, b) {
    const board = data.boards[b], heads = [...table.tHead.rows[0].cells], size = (heads.length - 1) / 2;
    const kinds = heads.slice(2, 1 + size).map((one) => (one.textContent.trim() === "time" ? "took" : "clk"));
    const longest = Math.max(...board.states.filter((state) => state.main).map((state) => state.took || 0));
    let place = -1;
    const button = ([played, ...figures]) => {
      const notes = [...played.querySelectorAll(".note, .gives")], off = played.className === "off";
      notes.forEach((one) => one.remove());
      if (!off) place = played.dataset.i === undefined ? place + 1 : Number(played.dataset.i);
      const state = off ? {} : board.states[play[place].state], left = state.clocks ? state.clocks[state.white ? 0 : 1] : null;
      const mv = off ? make("span", { class: "mv off" }) : make("button", { class: "mv", "data-i": place });
      mv.classList.toggle("long", state.took > data.long);
      mv.classList.toggle("low", left !== null && left < board.low);
      mv.append(make("span", { class: played.querySelector(".san") ? "played" : "played san" }, ...played.childNodes));
      if (state.took > 0) {
        const bar = make("i", { class: "bar" });
        bar.style.width = `${Math.max(1, Math.min(100, Math.floor(state.took * 100 / longest)))}%`;
        mv.append(bar);
      }
      kinds.forEach((kind, i) => { const text = figures[i].textContent.trim(); if (text) mv.append(" ", make("span", { class: kind }, text)); });
      mv.append(...notes.flatMap((one) => [" ", one]));
      return make("td", {}, mv);
    };
    for (const row of table.tBodies[0].rows) {
      const cells = [...row.cells];
      if (row.className) {
        for (const one of row.querySelectorAll("button")) place = Number(one.dataset.i);
        cells[1].colSpan = 2;
        continue;
      }
      const made = cells.splice(0, 1);
      while (cells.length) made.push(cells[0].className === "gone" ? cells.splice(0, 1)[0] : button(cells.splice(0, size)));
      for (const one of made) one.colSpan = 1;
      row.replaceChildren(...made, ...(made.length < 3 ? [make("td", {})] : []));
    }
    const sides = [heads[1], heads[1 + size]].map((side, n) => make("th", { scope: "col" }, make("span", { class: "mv heads" },
      make("span", { class: "played" }, side.textContent.trim()),
      ...kinds.map((kind, i) => make("span", { class: kind }, heads[2 + i + n * size].textContent.trim())))));
    table.tHead.rows[0].replaceChildren(heads[0], ...sides);
  }
  document.querySelectorAll(".moves").forEach(makeMoves);

  const BUTTONS = [
    ["first", "To the start", "To the start (Home)", "M6 5v14M19 5l-10 7 10 7z"],
    ["previous", "Back one move", "Back one move (←)", "M16 5l-10 7 10 7z"],
    ["toggle", "Play", "Play or pause (space)", "go:M8 4l12 8-12 8z", "halt:M7 5h3v14H7zM14 5h3v14h-3z"],
    ["next", "On one move", "On one move (→)", "M8 5l10 7-10 7z"],
    ["last", "To the end", "To the end (End)", "M18 5v14M5 5l10 7-10 7z"],
    ["think", "To the next long think", "To the next long think (])",
      "stroke:M18.5 12a7.5 7.5 0 1 1-15 0a7.5 7.5 0 1 1 15 0M11 7.5V12l3 2M22 5v14"],
    ["link", "Copy the link to this move", "Copy the link to this move",
      "stroke:M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1"],
    ["flip", "Turn the board", "Turn the board (f)", "stroke:M8 20V5m0 0L4 9m4-4l4 4M16 4v15m0 0l4-4m-4 4l-4-4"],
  ];
  const KEYS = [
    ["Space", "play, pause"], ["← →", "back or on one move"], ["↑ ↓", "in the move list: up or down a row"],
    ["Home End", "to the start, to the end"], ["[ ]", "to the long think before or after (also p, n)"],
    ["+ −", "faster, slower"], ["f", "turn the board"],
  ];
  function makeControls(controls) {
    const choose = (id, words, options, chosen) => make("label", {}, `${words} `, make("select", { id },
      ...options.map(([value, text]) => make("option", value === chosen ? { value, selected: "" } : { value }, text))));
    const icon = (drawn) => make("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, ...drawn.map((one) => {
      const [kind, d] = one.includes(":") ? one.split(":") : ["", one];
      return make("path", { class: kind, d });
    }));
    const buttons = BUTTONS.map(([id, label, title, ...drawn]) => make("button", { type: "button", id, "aria-label": label, title }, icon(drawn)));
    buttons[2].className = "main";
    buttons[7].setAttribute("aria-pressed", "false");
    const speeds = SPEEDS.map((one) => [one, `${{ 0.25: "¼", 0.5: "½" }[one] || one}×`]);
    const caps = CAPS_MS.map((ms, i) => [i + 1, `at most ${duration(ms)}`]);
    controls.append(
      make("div", { class: "line" },
        make("label", {}, make("span", { class: "sr" }, "Time in the game"), make("input", { type: "range", id: "line", min: 0, max: 1000, value: 0, step: 1 })),
        make("span", { class: "readout", id: "readout", "aria-hidden": "true" })),
      make("div", { class: "buttons", role: "group", "aria-label": "Player" }, ...buttons),
      make("div", { class: "choices" }, choose("speed", "Speed", speeds, 1),
        choose("thinks", "Long thinks", [[0, "as they were"], ...caps, ["stop", "stop before them"]], 0)));
    document.querySelector(".facts").append(make("details", { class: "card keys" }, make("summary", {}, "Keys"), make("dl", {},
      ...KEYS.flatMap(([keys, words]) => [make("dt", {}, ...keys.split(" ").flatMap((key) => [make("kbd", {}, key), " "])), make("dd", {}, words)]))));
  }
  makeControls(document.querySelector(".controls"));
  function makePlates(board, b) {
    const root = $("board-" + b);
    root.append(make("p", { class: "sr", id: "position-" + b }));
    for (const svg of root.querySelectorAll("svg.board")) svg.setAttribute("aria-describedby", "position-" + b);
    ["White", "Black"].forEach((side) => {
      const plate = root.querySelector(".plate." + side.toLowerCase());
      plate.append(make("span", { class: board.hands ? "hand" : "hand material", role: "img" }), make("span", { class: "think", "aria-hidden": "true" }));
      if (board.timed) plate.append(make("span", { class: "clock", role: "timer", "aria-label": `${side}'s clock` }));
    });
  }
  data.boards.forEach(makePlates);
  $("now").append(make("ul", { id: "now-said" }));
  $("now").after(make("p", { class: "sr", id: "live", role: "status", "aria-live": "polite" }));
  // The empty board from Black's side has the coordinates the other way round.
  if (!$("board-black")) {
    const squares = $("board-white").cloneNode(true);
    squares.id = "board-black";
    for (const text of squares.querySelectorAll("text")) text.textContent = [...text.textContent].reverse().join("");
    $("board-white").after(squares);
  }

  // --- where everything is

  const last = play.length - 1;
  const stops = play.map((one, i) => (one.event ? -1 : i)).filter((i) => i >= 0);
  // For each board: the board's last stop at or before a place, and its next stop after it.
  const held = data.boards.map((_, b) => {
    const found = [];
    let now = stops.find((i) => play[i].board === b);
    play.forEach((one, i) => { if (!one.event && one.board === b) now = i; found.push(now); });
    return found;
  });
  const coming = data.boards.map((_, b) => {
    const found = new Array(play.length).fill(-1);
    let next = -1;
    for (let i = last; i >= 0; i--) { found[i] = next; if (!play[i].event && play[i].board === b) next = i; }
    return found;
  });
  const stateAt = (b, i) => data.boards[b].states[play[held[b][i]].state];
  const buttons = new Map();
  for (const button of document.querySelectorAll("button.mv, button.ev")) buttons.set(Number(button.dataset.i), button);
  const moveButtons = [...document.querySelectorAll("button.mv")];
  for (const [i, button] of buttons) {
    const state = stateAt(play[i].board, i), seconds = state.took === undefined ? "" : `took ${(state.took / 1000).toFixed(3)} s`;
    const left = state.clocks && state.white !== undefined ? state.clocks[state.white ? 0 : 1] : null;
    if (state.exact && !play[i].event) button.title = [seconds, left === null ? "" : `clock ${clockText(left, true)}`].filter(Boolean).join(", ");
    button.tabIndex = -1;
  }

  let at = 0, now = 0, track = 0, speed = 1, playing = false, stopping = false, released = -1, frame = 0, before = 0;
  let stepped = true;
  const flipped = data.boards.map((board) => board.flipped);
  const time = (i) => play[i].at[track];
  const end = () => data.end[track];

  // --- drawing

  const tables = data.boards.map((_, b) => {
    const root = $("board-" + b);
    const svg = root.querySelector("svg.board");
    return {
      root, svg, men: svg && svg.querySelector(".men"), marks: svg && svg.querySelector(".marks"),
      squares: svg && svg.querySelector(".squares"), evals: root.querySelector(".evals"), shown: new Map(), state: null,
      text: $("position-" + b), plates: [root.querySelector(".plate.white"), root.querySelector(".plate.black")],
    };
  });

  const corner = (square, b) => {
    let x = square.charCodeAt(0) - 97, y = 8 - Number(square[1]);
    if (flipped[b]) { x = 7 - x; y = 7 - y; }
    return [EDGE + SIDE * x, EDGE + SIDE * y];
  };
  const nameOf = (letter) => (letter < "a" ? "w" : "b") + letter.toLowerCase();
  const place = (use, square, b) => {
    const [x, y] = corner(square, b);
    use.removeAttribute("transform");
    use.style.transform = `translate(${x}px, ${y}px)`;
  };

  function drawMen(b, wanted) {
    const table = tables[b];
    const free = [];
    for (const [square, one] of table.shown) {
      if (wanted.get(square) !== one.letter) { free.push(one); table.shown.delete(square); }
    }
    for (const [square, letter] of wanted) {
      if (table.shown.has(square)) continue;
      const again = free.findIndex((one) => one.letter === letter);
      const one = again >= 0 ? free.splice(again, 1)[0] : { letter, use: document.createElementNS(SVG, "use") };
      if (again < 0) one.use.setAttribute("href", "#" + nameOf(letter));
      place(one.use, square, b);
      table.men.append(one.use);
      table.shown.set(square, one);
    }
    for (const one of free) one.use.remove();
  }

  function describe(men) {
    const sides = { white: [], black: [] };
    for (const [square, letter] of men) {
      const piece = letter.toLowerCase();
      sides[piece === letter ? "black" : "white"].push(["kqrbnp".indexOf(piece), `${NAMES[piece]} ${square}`]);
    }
    const words = (side) => side.sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1)).map((one) => one[1]).join(", ");
    return `White: ${words(sides.white)}. Black: ${words(sides.black)}.`;
  }

  function drawPieces(hand, letters, side) {
    hand.replaceChildren();
    const words = [];
    for (const letter of "QRBNP") {
      const number = [...letters].filter((one) => one === letter).length;
      if (!number) continue;
      const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
      svg.setAttribute("viewBox", "0 0 45 45");
      use.setAttribute("href", "#" + nameOf(side ? letter.toLowerCase() : letter));
      svg.append(use);
      hand.append(svg);
      if (number > 1) { const count = document.createElement("b"); count.textContent = number; hand.append(count); }
      words.push(`${number} ${NAMES[letter.toLowerCase()]}${number > 1 ? "s" : ""}`);
    }
    return words.join(", ");
  }
  // Pieces in hand; in games without them the pieces that this side has more than the other, and what all are worth.
  function drawHand(plate, side, state) {
    const hand = plate.querySelector(".hand");
    if (!hand.classList.contains("material")) {
      const letters = (state.hands || [null, null])[side], words = drawPieces(hand, letters || "", side);
      hand.setAttribute("aria-label", letters == null ? "Hand not known" : "In hand: " + (words || "nothing"));
      return;
    }
    const more = { Q: 0, R: 0, B: 0, N: 0, P: 0 };
    for (const letter of (state.men || new Map()).values()) more[letter.toUpperCase()] += (letter < "a") === (side === 0) ? 1 : -1;
    const worth = Object.entries(WORTH).reduce((sum, [letter, one]) => sum + one * more[letter], 0);
    const words = drawPieces(hand, Object.keys(WORTH).map((letter) => letter.repeat(Math.max(more[letter], 0))).join(""), side);
    if (worth > 0) { const count = document.createElement("b"); count.textContent = "+" + worth; hand.append(count); }
    hand.setAttribute("aria-label", `More than the other side: ${words || "nothing"}${worth > 0 ? `; ${worth} ahead` : ""}`);
  }

  // The bar beside the board: White's share grows from White's side. Unknown is half and half, and pale.
  function drawEvaluation(bar, state) {
    const [chances, text] = state.eval || [500, null];
    const white = bar.querySelector(".for-white");
    white.setAttribute("y", 1000 - chances);
    white.setAttribute("height", chances);
    bar.classList.toggle("unknown", text === null);
    bar.setAttribute("aria-label", "Evaluation " + (text === null ? "unknown" : text));
  }

  function drawBoard(b) {
    const table = tables[b], state = stateAt(b, at);
    if (table.state === state) return;
    table.state = state;
    if (table.svg) {
      table.root.classList.toggle("unknown", state.men === null);
      if (state.men !== null) drawMen(b, state.men);
      table.marks.replaceChildren();
      for (const square of (state.marks || "").match(/../g) || []) {
        const rect = document.createElementNS(SVG, "rect");
        const [x, y] = corner(square, b);
        for (const [name, value] of Object.entries({ class: "mark", x, y, width: SIDE, height: SIDE })) rect.setAttribute(name, value);
        table.marks.append(rect);
      }
    }
    if (table.evals) drawEvaluation(table.evals, state);
    table.text.textContent = state.men === null ? "The position is not known." : describe(state.men);
    table.plates.forEach((plate, side) => drawHand(plate, side, state));
  }

  // --- clocks

  function clockText(ms, exact) {
    if (ms === null || ms === undefined) return "–";
    const size = Math.abs(ms);
    const seconds = Math.floor(size / 1000);
    const two = (n) => String(n).padStart(2, "0");
    const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
    let text = (hours ? hours + ":" + two(minutes) : String(minutes)) + ":" + two(seconds % 60);
    if (exact && size < TENTHS_BELOW_MS) text += "." + Math.floor((size % 1000) / 100);
    return (ms < 0 ? "−" : "") + text;
  }

  function drawClocks() {
    data.boards.forEach((board, b) => {
      const state = stateAt(b, at), next = coming[b][at], from = held[b][at];
      const clocks = state.clocks ? [...state.clocks] : [null, null];
      const moving = next >= 0 ? board.states[play[next].state] : null;
      let turn = moving && moving.white !== undefined && !play[next].back ? (moving.white ? 0 : 1) : -1;
      let think = null;
      const span = next >= 0 ? time(next) - time(from) : 0;
      const share = span > 0 ? Math.min(1, Math.max(0, (now - time(from)) / span)) : 0;
      const run = next >= 0 ? play[next].run : null;
      if (run && share > 0) clocks[run[0]] = run[1] + (run[2] - run[1]) * share;
      if (next >= 0 && play[next].think != null && share > 0) think = play[next].think * share;
      tables[b].plates.forEach((plate, side) => {
        const clock = plate.querySelector(".clock");
        const exact = moving && side === turn && moving.exact !== undefined ? moving.exact : state.exact;
        if (clock) {
          // Whole seconds run as a clock of whole seconds does: never finer than what was printed.
          const ms = clocks[side], shown = ms === null || exact ? ms : Math.ceil(ms / 1000) * 1000;
          const text = clockText(shown, exact);
          if (clock.textContent !== text) clock.textContent = text;
          clock.classList.toggle("low", ms !== null && ms < board.low);
        }
        plate.classList.toggle("turn", side === turn);
        plate.classList.toggle("runs", playing && side === turn);
        const thinking = plate.querySelector(".think");
        const text = side !== turn || think === null ? "" : (exact ? (think / 1000).toFixed(1) : String(Math.floor(think / 1000))) + " s";
        if (thinking.textContent !== text) thinking.textContent = text;
      });
    });
  }

  // --- the move list, what is said, charts

  function keepInView(button) {
    const box = button.closest(".scroll");
    if (!box || box.scrollHeight <= box.clientHeight) return;
    const inner = button.getBoundingClientRect(), outer = box.getBoundingClientRect();
    const head = 32;
    if (inner.top < outer.top + head || inner.bottom > outer.bottom - 40) {
      const top = box.scrollTop + inner.top - outer.top - box.clientHeight / 2;
      box.scrollTo({ top, behavior: quiet.matches || playing ? "auto" : "smooth" });
    }
  }

  // Boards that come back after a takeback have no button of their own: that of their first coming is meant.
  const firstOf = new Map();
  play.forEach((one, i) => { const key = one.board + "." + one.state; if (!one.event && !firstOf.has(key)) firstOf.set(key, i); });
  const buttonOf = (i) => buttons.get(firstOf.get(play[i].board + "." + play[i].state));

  let current = [];
  function drawList() {
    for (const button of current) { button.removeAttribute("aria-current"); }
    const inList = document.activeElement && document.activeElement.classList.contains("mv");
    current = [];
    for (const button of moveButtons) button.tabIndex = -1;
    data.boards.forEach((_, b) => {
      const button = buttonOf(held[b][at]);
      if (!button) return;
      button.setAttribute("aria-current", "step");
      button.tabIndex = 0;
      current.push(button);
      keepInView(button);
    });
    for (const i of saidNow()) {
      const button = buttons.get(i);
      if (button) { button.setAttribute("aria-current", "true"); current.push(button); }
    }
    if (inList) { const button = buttonOf(lastStop(at)); if (button) button.focus({ preventScroll: true }); }
  }

  const lastStop = (i) => { while (i > 0 && play[i].event) i -= 1; return i; };
  function saidNow() {
    const found = [];
    for (let i = lastStop(at) + 1; i <= last && play[i].event && (stepped || i <= at); i++) found.push(i);
    return found;
  }

  function drawNow() {
    const stop = lastStop(at), one = play[stop], state = data.boards[one.board].states[one.state];
    const letter = data.boards.length > 1 ? "AB"[one.board] + ": " : "";
    $("now-move").textContent = letter + (one.back ? "Back after a takeback" : (state.name || state.say) + (state.eval ? state.eval[2] : "") + (state.eval ? "  " + state.eval[1] : ""));
    const list = $("now-said");
    list.replaceChildren();
    for (const i of saidNow()) {
      const button = buttons.get(i);
      if (!button) continue;
      const item = document.createElement("li");
      for (const child of button.childNodes) item.append(child.cloneNode(true));
      list.append(item);
    }
    list.scrollTop = list.scrollHeight;
  }

  function announce() {
    const stop = lastStop(at), one = play[stop], state = data.boards[one.board].states[one.state];
    const letter = data.boards.length > 1 ? "Board " + "AB"[one.board] + ". " : "";
    const said = saidNow().map((i) => buttons.get(i)).filter(Boolean).map((button) => button.textContent.trim());
    $("live").textContent = letter + (one.back ? "The move was taken back. " : "") + state.say + (said.length ? " " + said.join(". ") : "");
  }

  // The pictures of a board have one axis of half-moves; that of all clocks has the time of the match.
  const LEFT = 44, RIGHT = 8, TOP = 20, BOTTOM = 20;
  const charts = [...document.querySelectorAll("svg.chart[data-axis]")].map((svg) => {
    const board = svg.parentElement.dataset.board, view = svg.viewBox.baseVal;
    const line = document.createElementNS(SVG, "line");
    line.setAttribute("class", "cursor off");
    line.setAttribute("y1", TOP);
    line.setAttribute("y2", view.height - BOTTOM);
    svg.append(line);
    const from = Number(svg.dataset.from), unit = (view.width - LEFT - RIGHT) / (Number(svg.dataset.to) - from);
    return { svg, line, view, from, unit, board: board === "" ? -1 : Number(board) };
  });
  function drawCharts() {
    for (const chart of charts) {
      const stop = lastStop(at), state = stateAt(chart.board < 0 ? play[stop].board : chart.board, at);
      const x = LEFT + ((chart.board < 0 ? play[stop].at[0] / 1000 : state.ply) - chart.from) * chart.unit;
      chart.line.classList.toggle("off", state.name === undefined);
      chart.line.setAttribute("x1", x);
      chart.line.setAttribute("x2", x);
    }
  }
  const placeOfPly = (b, ply) => stops.find((i) => {
    const state = data.boards[play[i].board].states[play[i].state];
    return play[i].board === b && state.main && state.ply === ply;
  });
  for (const chart of charts) {
    chart.svg.addEventListener("click", (event) => {
      const box = chart.svg.getBoundingClientRect();
      const value = chart.from + ((event.clientX - box.left) * chart.view.width / box.width - LEFT) / chart.unit;
      const away = (i) => Math.abs(value - (chart.board < 0 ? play[i].at[0] / 1000 : stateAt(chart.board, i).ply));
      const found = stops.filter((i) => chart.board < 0 || (play[i].board === chart.board && stateAt(chart.board, i).main));
      if (found.length) go(found.reduce((best, i) => (away(i) < away(best) ? i : best)));
    });
  }

  function readout() {
    const text = (ms) => clockText(Math.round(ms / 1000) * 1000, false);
    $("readout").textContent = `${text(now)} / ${text(end())}`;
    const line = $("line");
    line.value = String(Math.round(now));
    const stop = lastStop(at);
    const state = data.boards[play[stop].board].states[play[stop].state];
    line.setAttribute("aria-valuetext", `${state.name || "start"}, ${text(now)} of ${text(end())}`);
  }

  function draw(loud) {
    data.boards.forEach((_, b) => drawBoard(b));
    drawList();
    drawNow();
    drawCharts();
    drawClocks();
    readout();
    if (loud) announce();
    if (addressed) history.replaceState(null, "", address());
    for (const link of links) {
      const to = new URL(link.href), stop = play[lastStop(at)];
      to.searchParams.set("ply", data.boards[stop.board].states[stop.state].ply);
      link.href = to.href;
    }
  }

  // The address of what is shown: its half-move, of a match also the board, and of a move that was taken back its place.
  let addressed = false;
  function address() {
    const to = new URL(location.href), stop = play[lastStop(at)], state = data.boards[stop.board].states[stop.state];
    to.hash = state.main || !at ? "" : String(lastStop(at));
    for (const name of ["ply", "board"]) to.searchParams.delete(name);
    if (at && state.main) to.searchParams.set("ply", state.ply);
    if (at && state.main && stop.board !== data.own) to.searchParams.set("board", "AB"[stop.board]);
    return to.href;
  }

  // Links to other pages about the half-move that is shown.
  const links = [...document.querySelectorAll("a.at-ply")];

  // --- going through it

  function go(i, loud = true) {
    at = Math.min(Math.max(i, 0), last);
    now = time(at);
    released = -1;
    stepped = !playing;
    draw(loud);
  }
  function step(by) {
    const stop = lastStop(at);
    const index = stops.indexOf(stop) + by;
    // Going back from behind a board's time first goes to the board itself.
    if (by < 0 && playing && now > time(stop) + 500) return go(stop);
    go(stops[Math.min(Math.max(index, 0), stops.length - 1)]);
  }
  function seek(ms) {
    now = Math.min(Math.max(ms, 0), end());
    let i = 0;
    while (i < last && time(i + 1) <= now) i += 1;
    const moved = i !== at;
    at = i;
    stepped = false;
    released = -1;
    if (moved) draw(false); else { drawClocks(); readout(); }
  }
  function nextStop(i) { for (let j = i + 1; j <= last; j++) if (!play[j].event) return j; return -1; }

  function tick(stamp) {
    if (!playing) return;
    const passed = Math.min(stamp - before, 1000);
    before = stamp;
    let reach = now + passed * speed, moved = false, loud = false;
    while (at < last && time(at + 1) <= reach) {
      const wait = (time(at + 1) - time(at)) / speed;
      if (stopping && halts(at)) { reach = time(at); break; }
      at += 1;
      moved = true;
      loud = loud || wait > 900;
    }
    const halt = stopping && halts(at);
    if (halt) { reach = time(at); pause(); }
    now = Math.min(reach, end());
    if (moved) { stepped = false; draw(loud); } else { drawClocks(); readout(); }
    if (halt) { note(at); return; }
    if (at === last && now >= end()) { pause(); return; }
    frame = requestAnimationFrame(tick);
  }
  function halts(i) {
    const next = nextStop(i);
    return next >= 0 && next !== released && play[next].think > data.long;
  }
  function note(i) {
    const next = nextStop(i), state = data.boards[play[next].board].states[play[next].state];
    released = next;
    const seconds = Math.round(play[next].think / 1000);
    const words = `A long think: ${data.boards[play[next].board].names[state.white ? 0 : 1]}, ${seconds} s. Play goes on.`;
    $("now-move").textContent = words;
    $("live").textContent = words;
  }
  // Places where the next move is a long think.
  const thinks = stops.filter((i) => { const next = nextStop(i); return next >= 0 && play[next].think > data.long; });
  function toThink(by) {
    const stop = lastStop(at);
    const i = by > 0 ? thinks.find((one) => one > stop) : thinks.filter((one) => one < stop).pop();
    if (i === undefined) { $("live").textContent = `No long think ${by > 0 ? "after" : "before"} this move.`; return; }
    go(i);
    note(i);
  }
  function start() {
    if (playing) return;
    if (at === last && now >= end()) { at = 0; now = 0; released = -1; }
    playing = true;
    stepped = false;
    before = performance.now();
    shell();
    draw(false);
    frame = requestAnimationFrame(tick);
  }
  function pause() {
    playing = false;
    cancelAnimationFrame(frame);
    shell();
    drawClocks();
  }
  function shell() {
    document.body.classList.toggle("playing", playing);
    $("toggle").setAttribute("aria-label", playing ? "Pause" : "Play");
  }
  function setSpeed(value) {
    speed = value;
    $("speed").value = String(value);
  }
  function faster(by) {
    const index = Math.min(Math.max(SPEEDS.indexOf(speed) + by, 0), SPEEDS.length - 1);
    setSpeed(SPEEDS[index]);
    $("live").textContent = `Speed ${SPEEDS[index]}`;
  }
  function flip() {
    data.boards.forEach((_, b) => {
      flipped[b] = !flipped[b];
      const table = tables[b];
      table.root.classList.toggle("flipped", flipped[b]);
      if (table.squares) table.squares.setAttribute("href", flipped[b] ? "#board-black" : "#board-white");
      for (const [square, one] of table.shown) place(one.use, square, b);
      table.state = null;
    });
    $("flip").setAttribute("aria-pressed", String(flipped[0] !== data.boards[0].flipped));
    draw(false);
  }

  // --- hands on it

  $("first").addEventListener("click", () => go(0));
  $("previous").addEventListener("click", () => step(-1));
  $("toggle").addEventListener("click", () => (playing ? pause() : start()));
  $("next").addEventListener("click", () => step(1));
  $("last").addEventListener("click", () => go(stops[stops.length - 1]));
  $("think").disabled = thinks.length === 0;
  $("think").addEventListener("click", () => toThink(1));
  $("flip").addEventListener("click", flip);
  $("speed").addEventListener("change", (event) => setSpeed(Number(event.target.value)));
  $("thinks").addEventListener("change", (event) => {
    const choice = event.target.value, next = nextStop(at);
    const span = next < 0 ? 0 : time(next) - time(at);
    const share = span > 0 ? (now - time(at)) / span : 0;
    stopping = choice === "stop";
    track = stopping ? 0 : Number(choice);
    now = time(at) + share * (next < 0 ? 0 : time(next) - time(at));
    $("line").max = String(end());
    readout();
  });
  $("line").addEventListener("input", (event) => seek(Number(event.target.value)));
  for (const [i, button] of buttons) button.addEventListener("click", () => go(i));

  const rowOf = (button) => button.closest("tr");
  function beside(button, by) {
    const rows = [...rowOf(button).parentElement.children];
    const column = [...rowOf(button).cells].findIndex((cell) => cell.contains(button));
    for (let at = rows.indexOf(rowOf(button)) + by; at >= 0 && at < rows.length; at += by) {
      const cells = rows[at].cells;
      const found = (cells[Math.min(column, cells.length - 1)] || rows[at]).querySelector("button.mv");
      if (found) return found;
    }
    return null;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const target = event.target, tag = target.tagName;
    if (tag === "SELECT" || tag === "TEXTAREA" || (tag === "INPUT" && target.type !== "range")) return;
    const inList = target.classList && (target.classList.contains("mv") || target.classList.contains("ev"));
    switch (event.key) {
      case " ":
        if ((tag === "BUTTON" && !inList) || tag === "SUMMARY") return;
        if (playing) pause(); else start();
        break;
      case "ArrowLeft": step(-1); break;
      case "ArrowRight": step(1); break;
      case "ArrowUp": case "ArrowDown": {
        if (tag === "INPUT") { step(event.key === "ArrowUp" ? 1 : -1); break; }
        const found = inList && beside(target, event.key === "ArrowUp" ? -1 : 1);
        if (!found) return;
        found.focus({ preventScroll: true });
        go(Number(found.dataset.i));
        break;
      }
      case "Home": go(0); break;
      case "End": go(stops[stops.length - 1]); break;
      case "]": case "n": toThink(1); break;
      case "[": case "p": toThink(-1); break;
      case "f": case "F": flip(); break;
      case "+": case "=": faster(1); break;
      case "-": case "−": faster(-1); break;
      default: return;
    }
    event.preventDefault();
  });
  addEventListener("resize", drawCharts);
  addEventListener("hashchange", fromHash);
  addEventListener("popstate", fromAddress);
  function fromAddress() {
    const wanted = new URLSearchParams(location.search), board = "AB".indexOf(wanted.get("board") || "-");
    const linked = wanted.has("ply") ? placeOfPly(board < 0 ? data.own : board, Number(wanted.get("ply"))) : undefined;
    if (linked !== undefined) go(linked, false);
    fromHash();  // addresses of old versions, and of moves that were taken back
  }
  function fromHash() {
    if (!location.hash) return;
    const i = Number(location.hash.slice(1));
    if (Number.isInteger(i) && i >= 0 && i <= last && i !== lastStop(at)) go(i, false);
  }
  const copy = $("copy");
  $("link").hidden = !navigator.clipboard;
  $("link").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(address());
      $("live").textContent = $("now-move").textContent = "The link to this move is copied.";
    } catch {  // the browser may forbid it: the address is in its bar
      $("now-move").textContent = "The link to this move is in the address bar.";
    }
  });
  if (navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText($("pgn").textContent);
        copy.textContent = "Copied";
      } catch {  // the browser may forbid it: then the text is there to be copied by hand
        getSelection().selectAllChildren($("pgn"));
        copy.textContent = "Selected: copy it with your browser";
      }
    });
  }

  // The drawn pieces give way to those that can move.
  for (const table of tables) if (table.men) table.men.replaceChildren();
  $("line").max = String(end());
  document.body.classList.add("live");
  document.querySelector(".controls").hidden = false;
  fromAddress();
  draw(false);
  addressed = true;
})();
