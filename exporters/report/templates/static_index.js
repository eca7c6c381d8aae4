"use strict";
// Searches the games of the page's data. Without this script the newest games are listed.
(() => {
  const games = JSON.parse(document.getElementById("data").textContent);
  const texts = games.map((game) => game.slice(0, 15).filter((_, place) => ![0, 4, 7].includes(place)).join(" ").toLowerCase());
  const input = document.getElementById("filter");
  const body = document.getElementById("rows");
  const more = document.getElementById("more");
  const count = document.getElementById("count");
  const step = 100;
  const chosen = document.getElementById("chosen");
  let found = games, shown = 0, filters = new Map();
  const cell = (row, kind, text, href) => {
    const made = row.insertCell();
    made.className = kind;
    const within = document.createElement(href ? "a" : "bdi");
    if (href) within.href = href;
    within.textContent = text;
    made.append(within);
    return made;
  };
  const who = (row, name, rating, href, won) => {
    const beside = document.createElement("small"); // where the column of ratings is hidden
    beside.textContent = rating;
    cell(row, won ? "who won" : "who", name, href).append(" ", beside);
    cell(row, "number rating", rating);
  };
  const add = () => {
    for (const game of found.slice(shown, shown + step)) {
      const [href, date, white, whiteRating, whiteHref, black, blackRating, blackHref, result, reason, time, kind, eco, , plies] = game;
      const row = body.insertRow();
      const day = cell(row, "date", date.slice(0, 10), href).firstChild, hour = document.createElement("span");
      day.className = "row";
      hour.className = "hour";
      hour.textContent = date.slice(10);
      day.append(hour);
      who(row, white, whiteRating, whiteHref, game[15] === "1-0");
      who(row, black, blackRating, blackHref, game[15] === "0-1");
      cell(row, game[15] === "*" ? "result open" : "result", result);
      cell(row, "more", reason);
      cell(row, "number time", time);
      cell(row, "more kind", kind);
      cell(row, "more eco", eco);
      cell(row, "number plies", plies);
    }
    shown = Math.min(shown + step, found.length);
    more.hidden = shown >= found.length;
  };
  // A number of a player's page leads here with filters behind "#", as player=a&outcome=win.
  const names = { player: "player", opponent: "opponent", colour: "colour", outcome: "result of the player", eco: "ECO", time: "time control", variant: "variant", server: "server" };
  const has = (name, value) => !filters.has(name) || filters.get(name) === value.toLowerCase();
  // The middle of a very long handle is cut out in the list.
  const isHandle = (name, value) => {
    const [head, tail, ...more] = value.toLowerCase().split("…");
    return has(name, value) || (tail !== undefined && !more.length
      && filters.get(name).startsWith(head) && filters.get(name).endsWith(tail));
  };
  const points = { "1-0": ["win", "loss"], "0-1": ["loss", "win"], "1/2-1/2": ["draw", "draw"] };
  const asked = (control) => (control === "-" ? "0+0" : parseInt(control) < 60 ? control.replace("+", "s+") : control);
  const sideMatches = (game, side) => {
    const handles = [game[2], game[5]], control = (side && game[19]) || game[18];
    return isHandle("player", handles[side]) && isHandle("opponent", handles[1 - side]) && has("colour", ["white", "black"][side])
      && has("outcome", (points[game[15]] || ["", ""])[side]) && has("time", asked(control));
  };
  const matches = (game) => (!filters.has("eco") || game[12].toLowerCase().startsWith(filters.get("eco")))
    && has("variant", game[17]) && has("server", game[16]) && (sideMatches(game, 0) || sideMatches(game, 1));
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = words.length || filters.size
      ? games.filter((game, place) => words.every((word) => texts[place].includes(word)) && matches(game)) : games;
    body.replaceChildren();
    shown = 0;
    add();
    const all = `${games.length.toLocaleString("en")} game${games.length === 1 ? "" : "s"}`;
    count.textContent = words.length || filters.size ? `${found.length.toLocaleString("en")} of ${all}` : all;
  };
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 80);
  });
  more.addEventListener("click", add);
  input.closest(".filter").hidden = false;
  const read = () => {
    const given = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
    const known = [...given].filter(([name]) => Object.hasOwn(names, name));
    filters = new Map(known.map(([name, value]) => [name, value.toLowerCase()]));
    chosen.hidden = !filters.size;
    chosen.firstElementChild.textContent = known.map(([name, value]) => `${names[name]}: ${value}`).join(" · ");
    input.value = "";
    show();
  };
  addEventListener("hashchange", read);
  read();
})();
