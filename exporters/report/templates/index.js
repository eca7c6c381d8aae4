"use strict";
// The filter of the list of games: a row stays if it has all words. Without this script all rows stay.
(() => {
  const input = document.getElementById("filter");
  const found = document.getElementById("found");
  const rows = [...document.querySelectorAll("table.games tbody tr")];
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, place) => {
      const stays = words.every((word) => texts[place].includes(word));
      row.hidden = !stays;
      count += stays ? 1 : 0;
    });
    found.textContent = words.length ? `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")} games` : "";
  };
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 80);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      show();
    }
  });
  input.closest(".filter").hidden = false;
  if (input.value) show(); // a browser may keep it over a reload
})();
