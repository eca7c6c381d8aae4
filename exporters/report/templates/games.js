"use strict";
// Completes handles while they are typed. Without this script the form works the same.
(() => {
  const list = document.getElementById("handles");
  let waiting = 0, asked = "";
  const fill = async (typed) => {
    asked = typed;
    let found = [];
    try {
      const answer = await fetch("/players.json?q=" + encodeURIComponent(typed));
      if (answer.ok) found = await answer.json();
    } catch {
      return;  // the site has ended: nothing is completed
    }
    if (asked !== typed) return;
    list.replaceChildren(...found.map((handle) => {
      const option = document.createElement("option");
      option.value = handle;
      return option;
    }));
  };
  for (const input of document.querySelectorAll("input[list=handles]")) {
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { if (input.value.trim()) fill(input.value.trim()); }, 120);
    });
  }
})();
