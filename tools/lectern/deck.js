// Breaks what was written into slides that hold it, then starts reveal.js.
//
// A section comes as a list of cells. Each cell is a unit that stays together if a slide can hold it; a larger one
// is taken apart into its blocks (paragraphs, items of a list, rows of a table, source, outputs). Units are put
// on a slide until it is full; pictures give way down to a least height, so that what is said of them stands
// beside them. A slide that does not begin with a heading says in small letters where it belongs. What appears
// later (data-appears) becomes a fragment of reveal.js, but for what a slide begins with.
"use strict";

const HEIGHT = 664; // of a sheet, in the pixels of deck.css
const RUNNING = 33; // of the line that says where a slide belongs
const LEAST = [330, 620]; // height and width below which no picture that shares its slide is pressed
const LARGER = [1.4, 1.3, 1.2, 1.1]; // a slide with little on it is set so much larger, if it still fits
const HEADING = /^H[1-6]$/;

const element = (tag, name, text = "") => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
};

let measure;

/** Height of a unit on a slide, in pixels. */
function height(node) {
  const wrapped = element("div", "unit");
  wrapped.append(node.cloneNode(true));
  measure.replaceChildren(wrapped);
  return Math.ceil(wrapped.getBoundingClientRect().height);
}

/** A list or a table as several, an item or a row each; all else as it is. */
function pieces(block) {
  const items = block.matches("ul, ol") ? [...block.children] : [...block.querySelectorAll(":scope > tbody > tr")];
  if (items.length < 2 || !block.matches("ul, ol, table")) return [block];
  const first = Number(block.getAttribute("start") || 1);
  return items.map((item, i) => {
    const shell = block.cloneNode(false);
    if (block.matches("ol")) shell.setAttribute("start", first + i);
    if (block.matches("table")) {
      const head = block.querySelector(":scope > thead");
      if (head) shell.append(head.cloneNode(true));
      const body = document.createElement("tbody");
      body.append(item.cloneNode(true));
      shell.append(body);
    } else shell.append(item.cloneNode(true));
    return shell;
  });
}

/** The same list or table, in one again. */
function join(nodes) {
  const joined = [];
  for (const node of nodes) {
    const last = joined.at(-1);
    if (last && node.dataset.of && last.dataset.of === node.dataset.of) {
      const [to, from] = [last, node].map((one) => one.querySelector(":scope > tbody") || one);
      to.append(...from.children);
    } else joined.push(node);
  }
  return joined;
}

let lists = 0;

/** Blocks of a cell that is too tall for one slide; those that must not part are one. */
function blocks(cell) {
  const found = [];
  for (const child of [...cell.children]) {
    const parts = height(child) > HEIGHT / 3 ? pieces(child) : [child];
    if (parts.length > 1) lists += 1;
    for (const part of parts) {
      if (parts.length > 1) part.dataset.of = lists;
      const held = found.at(-1);
      if (held && HEADING.test(held.at(-1).tagName)) held.push(part); // a heading stays with what follows
      else found.push([part]);
    }
  }
  return found;
}

/** Units of a section, each with its nodes, its cell's kind, and when it appears. */
function units(section) {
  const found = [];
  for (const cell of [...section.children]) {
    if (cell.matches("aside")) {
      found.push({ notes: cell });
      continue;
    }
    const appears = cell.dataset.appears || "";
    const whole = height(cell) - slack(cell) <= HEIGHT - RUNNING;
    for (const nodes of whole ? [[...cell.children]] : blocks(cell)) {
      if (nodes.length) found.push({ nodes, kind: cell.className, appears });
    }
  }
  return found;
}

const box = (unit) => {
  const made = element("div", `unit ${unit.kind}`);
  made.append(...unit.nodes);
  return made;
};

const copy = (unit) => box({ ...unit, nodes: unit.nodes.map((node) => node.cloneNode(true)) });
const pictures = (unit) => unit.nodes.flatMap((node) => [...node.querySelectorAll(".picture img, img")]);

/** Heights of the pictures as they are now. */
function seen(images) {
  return images.map((image) => {
    const limit = parseFloat(image.style.maxHeight) || 600;
    return Math.min(limit, (image.naturalHeight / image.naturalWidth) * 1040);
  });
}

/** By how much each picture can give way. */
function room(images) {
  return seen(images).map((high, i) => {
    const flat = (LEAST[1] * images[i].naturalHeight) / images[i].naturalWidth;
    return Math.max(0, high - Math.max(LEAST[0], flat));
  });
}

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
const slack = (cell) => sum(room([...cell.querySelectorAll("img")]));

/** Make the pictures of some units lower by so many pixels in all; false, and nothing done, if they cannot. */
function giveWay(all, pixels) {
  const images = all.flatMap(pictures);
  const now = seen(images);
  const each = room(images);
  const total = sum(each);
  if (total < pixels) return false;
  images.forEach((image, i) => {
    if (each[i]) image.style.maxHeight = `${Math.floor(now[i] - (each[i] * pixels) / total) - 1}px`;
  });
  return true;
}

const heads = (unit) => unit.nodes.length === 1 && HEADING.test(unit.nodes[0].tagName);
let heading = ""; // the last one, wherever it stood

/** Put units on slides, each as full as it can be. */
function pages(section) {
  const made = [];
  let page, left;
  const open = (first) => {
    const named = first && HEADING.test(first.nodes[0].tagName);
    page = { groups: [], notes: [], running: named || !heading ? "" : heading, goesOn: made.length > 0 };
    left = HEIGHT - (page.running ? RUNNING : 0);
    made.push(page);
  };
  const found = units(section);
  open(found.find((unit) => !unit.notes));
  for (const unit of found) {
    if (unit.notes) {
      page.notes.push(unit.notes);
      continue;
    }
    const needs = height(copy(unit));
    const lacks = needs + (heads(unit) ? 120 : 0) - left;
    if (lacks > 0 && !giveWay([...page.groups, unit], lacks) && page.groups.length) {
      const stray = page.groups.length > 1 && heads(page.groups.at(-1)) ? page.groups.pop() : null;
      open(stray || unit);
      if (stray) {
        page.groups.push(stray);
        left -= height(copy(stray));
      }
      const over = height(copy(unit)) - left;
      if (over > 0) giveWay([unit], over);
    }
    page.groups.push(unit);
    left = HEIGHT - (page.running ? RUNNING : 0) - sum(page.groups.map((one) => height(copy(one))));
    for (const node of unit.nodes) if (HEADING.test(node.tagName)) heading = node.textContent;
  }
  return made.filter((one) => one.groups.length);
}

/** One slide of reveal.js. */
function slide(page) {
  const made = element("section");
  const sheet = element("div", "sheet");
  if (page.running) sheet.append(element("p", "running", `${page.running}${page.goesOn ? " …" : ""}`));
  let first = null;
  let before = null;
  for (const group of page.groups) {
    group.nodes = [...group.nodes];
    if (before && before.kind === group.kind && before.appears === group.appears && group.nodes[0].dataset.of) {
      const joined = join([...before.made.children, ...group.nodes]);
      before.made.replaceChildren(...joined);
      continue;
    }
    group.made = box(group);
    if (first === null) first = group.appears;
    if (group.appears && group.appears !== first) {
      group.made.classList.add("fragment");
      group.made.dataset.fragmentIndex = group.appears;
    }
    sheet.append(group.made);
    before = group;
  }
  made.append(sheet);
  for (const notes of page.notes) {
    notes.classList.add("notes");
    made.append(notes);
  }
  return made;
}

/** What is still taller than a slide (a single paragraph, a picture with its code) is set smaller. */
function shrink(sheet) {
  for (let zoom = 0.95; sheet.scrollHeight > HEIGHT + 1 && zoom > 0.5; zoom -= 0.05) {
    for (const unit of sheet.children) unit.style.zoom = zoom;
    sheet.dataset.zoom = zoom.toFixed(2);
  }
  if (sheet.scrollHeight > HEIGHT + 1) sheet.classList.add("tall");
}

/** Does each line of code still stand in one line? */
const unbroken = (pre, zoom) =>
  pre.getBoundingClientRect().height / zoom <= 22 * pre.textContent.trimEnd().split("\n").length + 18;

/** Set a slide with room to spare larger: it is read from the last row. */
function grow(sheet) {
  if (sheet.dataset.zoom || sheet.querySelector(".picture, .long")) return;
  const set = (zoom) => {
    for (const unit of sheet.children) if (!unit.matches(".running")) unit.style.zoom = zoom;
  };
  const wrapped = [...sheet.querySelectorAll("pre")].filter((pre) => !unbroken(pre, 1));
  for (const zoom of LARGER) {
    set(zoom);
    const lines = [...sheet.querySelectorAll("pre")].every((pre) => wrapped.includes(pre) || unbroken(pre, zoom));
    if (lines && sheet.scrollHeight <= HEIGHT && sheet.scrollWidth <= sheet.clientWidth) return;
  }
  set("");
}

function breakIntoSlides() {
  measure = element("div", "measure");
  document.body.append(measure);
  for (const stack of document.querySelectorAll(".slides > section")) {
    const slides = [...stack.children].flatMap((section) => pages(section)).map(slide);
    stack.replaceChildren(...slides);
  }
  for (const sheet of document.querySelectorAll(".sheet")) {
    measure.replaceChildren();
    const home = sheet.parentNode;
    measure.append(sheet);
    shrink(sheet);
    grow(sheet);
    home.prepend(sheet);
  }
  measure.remove();
}

async function start() {
  const printed = /print-pdf/.test(window.location.search);
  if (printed) document.body.classList.add("print");
  if (window.MathJax?.startup?.promise) {
    await window.MathJax.startup.promise;
    await window.MathJax.typesetPromise();
  }
  await Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
  await document.fonts.ready;
  breakIntoSlides();
  if (window.Reveal) {
    await window.Reveal.initialize({
      width: 1280, height: 720, margin: 0.02, center: false, hash: true, slideNumber: "c/t", transition: "none", controlsTutorial: false,
      pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1, plugins: window.RevealNotes ? [window.RevealNotes] : [],
    });
    if (printed) await new Promise((done) => (document.querySelector(".pdf-page") ? done() : window.Reveal.on("pdf-ready", done)));
  }
  document.body.classList.add("ready");
}

start();
