"use strict";
// Searches the games of the page's data. Without this script the newest games are listed.
(() => {
  const games = JSON.parse(document.getElementById("data").textContent);
  const texts = games.map((game) => game.filter((_, place) => ![0, 4, 7].includes(place)).join(" ").toLowerCase());
  const input = document.getElementById("filter");
  const body = document.getElementById("rows");
  const more = document.getElementById("more");
  const count = document.getElementById("count");
  const step = 100;
  let found = games, shown = 0;
  const cell = (row, kind, text, href) => {
    const made = row.insertCell();
    made.className = kind;
    const within = document.createElement(href ? "a" : "bdi");
    if (href) within.href = href;
    within.textContent = text;
    made.append(within);
  };
  const add = () => {
    for (const game of found.slice(shown, shown + step)) {
      const [href, date, white, whiteRating, whiteHref, black, blackRating, blackHref, result, reason, time, kind, eco, , plies] = game;
      const row = body.insertRow();
      cell(row, "date", date, href);
      cell(row, "who", white, whiteHref);
      cell(row, "number rating", whiteRating);
      cell(row, "who", black, blackHref);
      cell(row, "number rating", blackRating);
      cell(row, "result", result);
      cell(row, "more", reason);
      cell(row, "number time", time);
      cell(row, "more kind", kind);
      cell(row, "more eco", eco);
      cell(row, "number plies", plies);
    }
    shown = Math.min(shown + step, found.length);
    more.hidden = shown >= found.length;
  };
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = words.length ? games.filter((_, place) => words.every((word) => texts[place].includes(word))) : games;
    body.replaceChildren();
    shown = 0;
    add();
    const all = `${games.length.toLocaleString("en")} game${games.length === 1 ? "" : "s"}`;
    count.textContent = words.length ? `${found.length.toLocaleString("en")} of ${all}` : all;
  };
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 80);
  });
  more.addEventListener("click", add);
  input.closest(".filter").hidden = false;
  // A player's name leads here with the handle behind "#".
  const read = () => {
    try {
      input.value = decodeURIComponent(location.hash.slice(1));
    } catch {
      input.value = "";
    }
    show();
  };
  addEventListener("hashchange", read);
  read();
})();
