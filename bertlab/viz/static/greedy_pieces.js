// Words cut into the longest pieces of a vocabulary, with every try: the same rule as in greedy_pieces.py.

const CHINESE = /[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/u;
const SPACE = /[\t\n\r\p{Z}]/u, REMOVED = /[\ufffd\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u, MARK = /[!-/:-@[-`{-~\p{P}]/u;

function cleanWords(text, lowercase) {
  const words = [[]];
  [...text].forEach((char, place) => {
    if (SPACE.test(char)) words.push([]);
    else if (!REMOVED.test(char)) {
      const letters = lowercase ? char.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase() : char;
      for (const letter of letters) {
        if (MARK.test(letter) || CHINESE.test(letter)) words.push([[letter, place]], []);
        else words.at(-1).push([letter, place]);
      }
    }
  });
  return words.filter((word) => word.length);
}

function cut(letters, ids, unknown, longest) {
  const word = letters.map(([letter]) => letter), pieces = [], tries = [];
  const lost = [[unknown, ids.get(unknown), letters[0][1], letters.at(-1)[1] + 1]];
  if (word.length > longest) return { word: word.join(""), pieces: lost, tries };
  let start = 0, end = word.length;
  while (start < end) {
    const piece = (start ? "##" : "") + word.slice(start, end).join("");
    tries.push(piece);
    if (ids.has(piece)) {
      pieces.push([piece, ids.get(piece), letters[start][1], letters[end - 1][1] + 1]);
      [start, end] = [end, word.length];
    } else if (start === --end) return { word: word.join(""), pieces: lost, tries };
  }
  return { word: word.join(""), pieces, tries };
}

export function idsOf(vocabulary) {
  return new Map(vocabulary.map((piece, i) => [piece, i]));
}

export function greedyPieces(text, ids, unknown, lowercase, longest) {
  return cleanWords(text, lowercase).map((letters) => cut(letters, ids, unknown, longest));
}
