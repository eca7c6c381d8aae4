"use strict";
// Keeps the boards as the site's events say. All words and numbers come from the site; only clocks are counted here.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SIDE = 45, EDGE = 15;
  const STALE_MS = 12000, AGAIN_MS = 5000, TICK_MS = 200, PINS = "ics-recorder.pins";
  const $ = (id) => document.getElementById(id);
  const main = $("main"), wall = $("wall"), pinned = $("pinned"), pinnedWall = pinned.querySelector(".wall");
  const fields = { q: $("q"), playing: $("playing"), hide: $("hide") };

  const boards = new Map(); // id -> the board, as the site has it
  const roots = new Map(); // id -> its element
  let sessions = [], outages = [], reading = null, version = -1;
  let shift = Infinity; // how far this computer's clock is ahead of the site's, or more
  let heard = 0, link = "connecting", paused = false, drawnAt = null;

  // --- what the browser remembers

  let pins = new Set();
  try { pins = new Set(JSON.parse(localStorage.getItem(PINS) || "[]")); } catch { /* it may not remember */ }
  const remember = () => { try { localStorage.setItem(PINS, JSON.stringify([...pins].slice(-50))); } catch { /* so be it */ } };

  // --- boards

  const square = (name, flip) => {
    let x = name.charCodeAt(0) - 97, y = 8 - Number(name[1]);
    if (flip) { x = 7 - x; y = 7 - y; }
    return [EDGE + SIDE * x, EDGE + SIDE * y];
  };

  const drawPosition = (svg, board) => {
    svg.querySelector(".squares").setAttribute("href", board.flip ? "#board-black" : "#board-white");
    svg.querySelector(".marks").replaceChildren(...board.marked.map((name) => {
      const mark = document.createElementNS(SVG, "rect"), [x, y] = square(name, board.flip);
      for (const [key, value] of Object.entries({ class: "mark", x, y, width: SIDE, height: SIDE })) mark.setAttribute(key, value);
      return mark;
    }));
    const men = [];
    board.squares.split(" ").forEach((rank, row) => [...rank].forEach((letter, column) => {
      const piece = letter.toLowerCase();
      if (!NAMES[piece]) return;
      const use = document.createElementNS(SVG, "use"), [x, y] = square("abcdefgh"[column] + (8 - row), board.flip);
      use.setAttribute("href", `#${letter === piece ? "b" : "w"}${piece}`);
      use.setAttribute("transform", `translate(${x} ${y})`);
      men.push(use);
    }));
    svg.querySelector(".men").replaceChildren(...men);
    svg.setAttribute("aria-label", `Position: ${spoken(board)}`);
  };

  const isLive = (board) => sessions.some((one) => one.live && one.id === board.session);

  const rootOf = (board) => {
    let root = roots.get(board.id) || $(`b-${board.id}`);
    if (!root) {
      root = $("blank").content.firstElementChild.cloneNode(true);
      root.id = `b-${board.id}`;
      root.setAttribute("aria-labelledby", `n-${board.id}`);
      root.querySelector("h3").id = `n-${board.id}`;
    }
    if (!roots.has(board.id)) {
      roots.set(board.id, root);
      const pin = root.querySelector(".pin");
      pin.hidden = false;
      pin.addEventListener("click", () => togglePin(board));
      root.querySelector(".seats").addEventListener("click", () => root.querySelector("h3 a").click());
    }
    return root;
  };

  const place = (root, board) => {
    const home = pins.has(board.pin) ? pinnedWall : wall;
    root.querySelector(".pin").setAttribute("aria-pressed", String(home === pinnedWall));
    if (root.parentNode !== home) home.append(root);
  };

  const togglePin = (board) => {
    if (!pins.delete(board.pin)) pins.add(board.pin);
    remember();
    const root = roots.get(board.id);
    place(root, board);
    filter();
    root.querySelector(".pin").focus();
  };

  // The last move in words, without its number.
  const spoken = (board) => (/^[0-9]/.test(board.move) ? spokenMove(board.move.slice(board.move.indexOf(" ") + 1)) : board.move);

  const drawBoard = (board) => {
    const root = rootOf(board), before = root.dataset.move;
    for (const field of root.querySelectorAll("[data-f]")) field.textContent = board[field.dataset.f];
    root.classList.toggle("over", !board.playing);
    root.classList.toggle("turned", board.flip);
    for (const side of ["white", "black"]) root.classList.toggle(`to-${side}`, board.running === side);
    root.querySelector("h3 a").href = `/live/${encodeURIComponent(board.id)}`;
    const svg = root.querySelector("svg.board"), drawn = board.squares !== "";
    svg.toggleAttribute("hidden", !drawn);
    root.querySelector(".undrawn").hidden = drawn;
    if (drawn) drawPosition(svg, board);
    const said = root.querySelector(".said");
    said.hidden = board.kibitzes.length === 0;
    said.replaceChildren(...board.kibitzes.map((one) => {
      const item = document.createElement("li"), who = document.createElement("b"), name = document.createElement("bdi"), text = document.createElement("bdi");
      name.textContent = one.who;
      text.textContent = one.text;
      who.append(name);
      item.append(who, " ", text);
      return item;
    }));
    root.dataset.move = board.move;
    place(root, board);
    if (before !== undefined && before !== board.move && pins.has(board.pin)) {
      if (sound.checked) beep();
      $("spoken").textContent = `${board.white} – ${board.black}: ${board.move.split(" ")[0]} ${spoken(board)}`;
    }
  };

  // --- a sound, if it is asked for: a click on the field allows it

  const sound = $("sound");
  let speaker = null;
  sound.parentElement.hidden = false;
  sound.addEventListener("change", () => { if (sound.checked) { speaker = speaker || new AudioContext(); beep(); } });
  const beep = () => {
    const tone = speaker.createOscillator(), volume = speaker.createGain();
    tone.frequency.value = 660;
    volume.gain.setValueAtTime(0.1, speaker.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.001, speaker.currentTime + 0.15);
    tone.connect(volume).connect(speaker.destination);
    tone.start();
    tone.stop(speaker.currentTime + 0.15);
  };

  // --- clocks

  const clockText = (ms) => {
    const seconds = Math.floor(Math.abs(ms) / 1000), pad = (value) => String(value).padStart(2, "0");
    const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
    return `${ms < 0 ? "−" : ""}${hours ? `${hours}:${pad(minutes)}` : minutes}:${pad(seconds % 60)}`;
  };

  const tick = () => {
    const idle = performance.now() - heard;
    if (link === "connected" && idle > STALE_MS) setLink("stale");
    if (paused || link !== "connected") return;
    const now = Date.now() - shift;
    for (const [id, board] of boards) {
      const root = roots.get(id), ms = board[`${board.running}_ms`];
      if (!root || root.hidden || !board.running || ms === null || ms === undefined || board.at_ms === null) continue;
      if (root.classList.contains("old")) continue;
      const text = clockText(ms - Math.max(0, now - board.at_ms));
      const field = root.querySelector(`[data-f="${board.running}_clock"]`);
      if (field.textContent !== text) field.textContent = text;
    }
  };

  // --- everything around the boards

  const time = () => new Date(Date.now() - (Number.isFinite(shift) ? shift : 0)).toISOString().slice(11, 19) + " UTC";

  const setLink = (state) => {
    link = state;
    const since = drawnAt ? ` The boards are those of ${drawnAt}.` : "";
    const words = {
      connecting: "Connecting.", connected: "Connected.", stale: `Stale: the site is silent.${since}`,
      lost: `Not connected; trying again.${since} If the site asks for a token, reload the page.`,
    };
    const shown = paused ? "paused" : state;
    $("link").dataset.state = shown;
    const text = paused ? `Paused.${since}` : words[state];
    if ($("link").textContent !== text) $("link").textContent = text;
    main.classList.toggle("unsure", shown !== "connected");
  };

  const open = new Set(); // recordings whose lines are shown
  const drawAround = () => {
    $("sessions").replaceChildren(...sessions.map((one) => {
      const item = document.createElement("li"), about = document.createElement("details"), head = document.createElement("summary");
      const title = document.createElement("b"), name = document.createElement("bdi"), state = document.createElement("span");
      about.open = open.has(one.id);
      about.addEventListener("toggle", () => { if (about.open) open.add(one.id); else open.delete(one.id); });
      item.className = one.live ? "now" : "old";
      name.textContent = one.title;
      state.className = "tag";
      state.textContent = one.state;
      title.append(name);
      head.append(title, " ", state);
      about.append(head, ...one.lines.map((line) => {
        const text = document.createElement("p");
        text.className = "hint";
        text.textContent = line;
        return text;
      }));
      item.append(about);
      return item;
    }));
    $("nothing").hidden = sessions.length > 0;
    $("reading").hidden = reading === null;
    $("reading").textContent = `Reading the journals: ${reading} % done.`;
    $("outages").hidden = outages.length === 0;
    $("outages").querySelector("ul").replaceChildren(...outages.map((line) => {
      const item = document.createElement("li");
      item.textContent = line;
      return item;
    }));
  };

  const filter = () => {
    const wanted = fields.q.value.trim().toLowerCase();
    let shown = 0;
    for (const [id, board] of boards) {
      const root = roots.get(id);
      if (!root) continue;
      root.hidden = !`${board.white} ${board.black}`.toLowerCase().includes(wanted) || (fields.playing.checked && !board.playing);
      root.classList.toggle("old", !isLive(board));
      shown += !root.hidden;
    }
    main.classList.toggle("spoil", fields.hide.checked);
    pinned.hidden = !pinnedWall.querySelector(":scope > :not([hidden])");
    $("count").textContent = `${shown} ${shown === 1 ? "game" : "games"}`;
    $("empty").hidden = shown > 0;
    $("empty").textContent = reading !== null ? "Still reading." : boards.size ? "No game matches." : "No game is being observed.";
  };

  let around = "";
  const draw = (changed) => {
    if (paused) return;
    for (const root of document.querySelectorAll(".wall > article")) {
      const id = root.id.slice(2);
      if (!boards.has(id)) { root.remove(); roots.delete(id); }
    }
    for (const id of changed) if (boards.has(id)) drawBoard(boards.get(id));
    const now = JSON.stringify([sessions.map((one) => [one.title, one.state, one.live, one.lines]), outages, reading]);
    if (now !== around) { around = now; drawAround(); }
    filter();
    drawnAt = time();
  };

  // --- the site's events

  const take = (message) => {
    const { now_ms: now, data } = JSON.parse(message.data);
    shift = Math.min(shift, Date.now() - now);
    heard = performance.now();
    if (link !== "connected") setLink("connected");
    return data;
  };

  const whole = (message) => {
    const data = take(message);
    ({ version, sessions, outages, reading } = data);
    boards.clear();
    for (const board of data.boards) boards.set(board.id, board);
    draw([...boards.keys()]);
  };

  const change = (message) => {
    const data = take(message);
    if (data.version <= version) return;
    ({ version, reading } = data);
    sessions = data.sessions || sessions;
    outages = data.outages || outages;
    for (const id of data.gone) boards.delete(id);
    for (const board of data.boards) boards.set(board.id, board);
    draw(data.boards.map((board) => board.id));
    tick();
  };

  const connect = () => {
    const events = new EventSource("/live/events");
    events.addEventListener("whole", whole);
    events.addEventListener("change", change);
    events.addEventListener("beat", take);
    events.addEventListener("error", () => {
      setLink("lost");
      shift = Infinity;
      if (events.readyState === EventSource.CLOSED) setTimeout(connect, AGAIN_MS);
    });
  };

  // --- controls

  const keep = () => {
    const query = new URLSearchParams();
    if (fields.q.value.trim()) query.set("q", fields.q.value.trim());
    if (fields.playing.checked) query.set("playing", "1");
    if (fields.hide.checked) query.set("hide", "1");
    history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
    filter();
  };
  for (const field of Object.values(fields)) field.addEventListener("input", keep);
  fields.q.form.addEventListener("submit", (event) => { event.preventDefault(); keep(); });
  $("send").hidden = true;
  const pause = $("pause");
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    setLink(link);
    draw([...boards.keys()]);
  });
  setLink("connecting");
  setInterval(tick, TICK_MS);
  connect();
})();
