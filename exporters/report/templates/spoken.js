"use strict";
const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

// "knight f3 takes e5, check" for "Nfxe5+"; the text itself where it is no SAN.
function spokenMove(san) {
  const body = san.replace(/[+#!?]+$/, ""), word = (letter) => NAMES[letter.toLowerCase()];
  const end = san.includes("#") ? ", checkmate" : san.slice(body.length).includes("+") ? ", check" : "";
  const castles = /^[O0]-[O0](-[O0])?$/.exec(body), drop = /^([KQRBNP])?@([a-h][1-8])$/.exec(body);
  if (castles) return (castles[1] ? "castles long" : "castles short") + end;
  if (drop) return `drops a ${word(drop[1] || "P")} on ${drop[2]}${end}`;
  const found = /^([KQRBN])?([a-h]?[1-8]?)(x?)([a-h][1-8])(?:=?\(?([QRBNK])\)?)?$/.exec(body);
  if (!found) return san;
  const [, piece, origin, takes, to, promotion] = found;
  return [piece && word(piece), origin, takes && "takes", to, promotion && `becomes a ${word(promotion)}`].filter(Boolean).join(" ") + end;
}
