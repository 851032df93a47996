"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const OPEN = "open", ACTOR = "actor";
  const LAST = data.played.length;
  const DASHES = ["", "9 4", "2 4", "12 4 2 4", "5 3", "1 3"];

  const state = { k: 0, view: data.viewer, timer: null };

  function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    Object.assign(made, properties);
    made.append(...children);
    return made;
  }

  function shape(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const actorAt = (k) => (k < LAST ? data.players[k] : data.actor);

  // ---------------------------------------------------------------- pictures

  function expand(changes) {
    const pictures = [];
    let picture = [];
    for (const edits of changes) {
      const next = [];
      let at = 0;
      for (const [start, taken, ...put] of edits) {
        for (; at < start; at++) next.push(picture[at]);
        next.push(...put);
        at += taken;
      }
      for (; at < picture.length; at++) next.push(picture[at]);
      pictures.push(next);
      picture = next;
    }
    return pictures;
  }

  const pictures = data.pictures.map(expand);

  function viewed() {
    if (state.view !== ACTOR) return state.view;
    const actor = actorAt(state.k);
    return actor ?? data.players[LAST - 1] ?? 0;
  }

  function showPicture() {
    const view = viewed();
    const pieces = pictures[view === OPEN ? 0 : view + 1][state.k];
    const text = pieces.map((number) => data.pieces[number]).join("");
    const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const title = svg.querySelector(":scope > title"); // a tooltip all over the table; the label says the same
    if (title) title.remove();
    $("picture").replaceChildren(document.importNode(svg, true));
  }

  // ---------------------------------------------------------------- words

  function showWords() {
    const { k } = state;
    $("count").textContent = `${k} / ${LAST}`;
    $("happened").setAttribute("aria-live", state.timer === null ? "polite" : "off");
    let text = k === 0 ? "The game begins." : `${data.seats[data.players[k - 1]]}: ${data.actions[data.played[k - 1]]}`;
    if (k === LAST) text += data.result === null ? " — the record ends here." : " — the game is over.";
    $("happened").textContent = text;
    $("slider").value = k;
    $("slider").setAttribute("aria-valuetext", `decision ${k} of ${LAST}`);
    for (const id of ["first", "back"]) $(id).disabled = k === 0;
    for (const id of ["next", "last"]) $(id).disabled = k === LAST;
    const actor = actorAt(k);
    [...$("seats").tBodies[0].rows].forEach((row, seat) => {
      row.classList.toggle("acts", seat === actor);
      row.cells[2].textContent = data.scores[k][seat];
      row.cells[3].textContent = k === LAST && data.result !== null ? data.result.ranks[seat] : "–";
    });
    for (const button of $("views").children) {
      button.setAttribute("aria-pressed", String(button.dataset.view === String(state.view)));
    }
  }

  // ---------------------------------------------------------------- legal actions

  function thought(opinion, share) {
    const fill = element("div", { className: "fill" });
    fill.style.width = `${share / 10}%`;
    const track = element("div", { className: "track" }, fill);
    track.setAttribute("aria-hidden", "true");
    const percent = share > 0 && share < 10 ? "< 1%" : `${Math.round(share / 10)}%`;
    return element(
      "div",
      { className: "thought" },
      element("span", { className: "who", textContent: opinion.policy, title: opinion.policy }),
      track,
      element("span", { className: "number", textContent: percent }),
    );
  }

  function showLegal() {
    const { k } = state;
    const list = $("legal").firstElementChild;
    const actor = actorAt(k);
    const view = viewed();
    const note = $("legal-note");
    const rows = [];
    if (k === LAST) {
      note.textContent = data.result === null ? "The record ends here." : "The game is over.";
    } else if (view !== OPEN && view !== actor) {
      note.textContent = `Only ${data.seats[actor]} knows what it may play.`;
    } else {
      const legal = data.legal[k];
      const by = legal.length === 1 ? "one action" : `${legal.length} actions`;
      note.textContent = `${data.seats[actor]} has ${by}.`;
      const sorting = data.opinions.find((opinion) => opinion.probabilities);
      const order = legal.map((_, index) => index);
      if (sorting) order.sort((a, b) => sorting.probabilities[k][b] - sorting.probabilities[k][a]);
      for (const index of order) {
        const action = legal[index];
        const head = element("div", { className: "head" }, element("span", { className: "name", textContent: data.actions[action] }));
        const row = element("li", {}, head);
        if (action === data.played[k]) {
          row.className = "played";
          head.append(element("span", { className: "tag played", textContent: "played" }));
        }
        data.opinions.forEach((opinion) => {
          if (opinion.probabilities) row.append(thought(opinion, opinion.probabilities[k][index]));
          else if (opinion.choices[k] === action) {
            head.append(element("span", { className: "tag", textContent: `${opinion.policy} would play it` }));
          }
        });
        rows.push(row);
      }
    }
    list.replaceChildren(...rows);
    $("legal").hidden = rows.length === 0;
    $("legal").scrollTop = 0;
    const played = list.querySelector(".played");
    if (played) {
      const below = played.offsetTop + played.offsetHeight - $("legal").offsetTop - $("legal").clientHeight;
      if (below > 0) $("legal").scrollTop = below;
    }
  }

  // ---------------------------------------------------------------- graph

  const graph = { x: null, cursor: null, dots: [] };
  const MARGIN = { left: 40, right: 26, top: 10, bottom: 22 };
  const HEIGHT = 190;

  function steps(low, high) {
    const rough = (high - low) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough));
    const values = [];
    for (let value = Math.floor(low / step) * step; value < high + step; value += step) values.push(value);
    return values;
  }

  function drawGraph() {
    const width = $("graph").clientWidth;
    if (width < 80) return;
    const all = data.scores.flat();
    const low = Math.min(0, ...all);
    const marks = steps(low, Math.max(low + 4, ...all));
    const bottom = marks[0], top = marks[marks.length - 1];
    const x = (k) => MARGIN.left + ((width - MARGIN.left - MARGIN.right) * k) / Math.max(1, LAST);
    const y = (score) => MARGIN.top + ((HEIGHT - MARGIN.top - MARGIN.bottom) * (top - score)) / (top - bottom);
    const ends = data.scores[LAST].map((score, seat) => `${data.seats[seat]} ${score}`).join(", ");
    const svg = shape("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `Points by decision; at the end ${ends}` });
    for (const mark of marks) {
      svg.append(shape("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(mark), y2: y(mark) }));
      svg.append(shape("text", { x: MARGIN.left - 6, y: y(mark) + 4, "text-anchor": "end" }, mark));
    }
    svg.append(shape("text", { x: MARGIN.left, y: HEIGHT - 5 }, "0"));
    svg.append(shape("text", { x: width - MARGIN.right, y: HEIGHT - 5, "text-anchor": "end" }, `decision ${LAST}`));
    const labels = [];
    graph.dots = data.seats.map((_, seat) => {
      const path = data.scores.map((scores, k) => (k ? `H${x(k).toFixed(1)}V${y(scores[seat]).toFixed(1)}` : `M${x(0)} ${y(scores[seat]).toFixed(1)}`));
      const line = shape("path", { class: "line", d: path.join(""), "stroke-dasharray": DASHES[seat] });
      line.style.setProperty("--key", `var(--seat${seat})`);
      svg.append(line);
      labels.push({ seat, at: y(data.scores[LAST][seat]) + 4 });
      const dot = shape("circle", { class: "dot", r: 5 });
      dot.style.setProperty("--key", `var(--seat${seat})`);
      return dot;
    });
    labels.sort((a, b) => a.at - b.at);
    labels.forEach((label, index) => {
      if (index) label.at = Math.max(label.at, labels[index - 1].at + 13);
    });
    const over = labels.length ? Math.max(0, labels[labels.length - 1].at - (HEIGHT - MARGIN.bottom + 8)) : 0;
    for (const { seat, at } of labels) {
      const text = shape("text", { class: "end", x: width - MARGIN.right + 8, y: at - over }, seat);
      text.style.setProperty("--key", `var(--seat${seat})`);
      svg.append(text);
    }
    graph.cursor = shape("line", { class: "cursor", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom });
    svg.append(graph.cursor, ...graph.dots);
    graph.x = x;
    graph.y = y;
    svg.addEventListener("pointerdown", (event) => {
      const jump = (moved) => {
        const share = (moved.offsetX - MARGIN.left) / (width - MARGIN.left - MARGIN.right);
        pause();
        go(Math.round(share * LAST));
      };
      jump(event);
      svg.setPointerCapture(event.pointerId);
      svg.onpointermove = jump;
      svg.onpointerup = svg.onpointercancel = () => (svg.onpointermove = null);
    });
    $("graph").replaceChildren(svg);
    showCursor();
  }

  function showCursor() {
    if (!graph.cursor) return;
    const at = graph.x(state.k);
    graph.cursor.setAttribute("x1", at);
    graph.cursor.setAttribute("x2", at);
    graph.dots.forEach((dot, seat) => {
      dot.setAttribute("cx", at);
      dot.setAttribute("cy", graph.y(data.scores[state.k][seat]));
    });
  }

  // ---------------------------------------------------------------- going

  function show() {
    showPicture();
    showWords();
    showLegal();
    showCursor();
  }

  function go(k) {
    state.k = Math.min(LAST, Math.max(0, k));
    show();
  }

  function pause() {
    clearInterval(state.timer);
    state.timer = null;
    $("play").classList.remove("playing");
    $("play").setAttribute("aria-label", "Play");
  }

  function play() {
    if (LAST === 0) return;
    if (state.k === LAST) go(0);
    clearInterval(state.timer);
    state.timer = setInterval(() => {
      if (state.k + 1 >= LAST) pause();
      go(state.k + 1);
    }, 1000 / Number($("speed").value));
    $("play").classList.add("playing");
    $("play").setAttribute("aria-label", "Pause");
    showWords();
  }

  function toggle() {
    if (state.timer === null) play();
    else {
      pause();
      showWords();
    }
  }

  function step(k) {
    pause();
    go(k);
  }

  $("slider").max = LAST;
  $("slider").disabled = $("play").disabled = LAST === 0;
  $("slider").addEventListener("input", () => step(Number($("slider").value)));
  $("first").addEventListener("click", () => step(0));
  $("back").addEventListener("click", () => step(state.k - 1));
  $("next").addEventListener("click", () => step(state.k + 1));
  $("last").addEventListener("click", () => step(LAST));
  $("play").addEventListener("click", toggle);
  $("speed").addEventListener("change", () => state.timer !== null && play());
  $("zoom").addEventListener("click", () => {
    const large = $("picture").classList.toggle("large");
    $("zoom").setAttribute("aria-pressed", String(large));
    if (large) $("picture").tabIndex = 0; // so that it can be scrolled by keyboard
    else $("picture").removeAttribute("tabindex");
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { target, key } = event;
    if (target.closest("select, #picture[tabindex]")) return;
    if (key === " " && target.closest("button, summary")) return;
    if (key === " " && event.repeat) return;
    const far = event.shiftKey ? 10 : 1;
    const moves = {
      ArrowRight: () => step(state.k + far),
      ArrowLeft: () => step(state.k - far),
      Home: () => step(0),
      End: () => step(LAST),
      " ": toggle,
    };
    if (!Object.hasOwn(moves, key)) return;
    event.preventDefault();
    moves[key]();
  });

  // ---------------------------------------------------------------- once

  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const nameTheme = () => {
    $("theme").textContent = isDark() ? "Light" : "Dark";
    $("theme").title = `${$("theme").textContent} colours`;
  };
  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  nameTheme();

  $("game").textContent = `${data.game}, ${data.seats.length} players`;
  for (const [name, value] of Object.entries(data.rules)) {
    if (value !== null) $("rules").append(element("li", { textContent: `${name}: ${value}` }));
  }
  const views = [[OPEN, "Everything open"], [ACTOR, "Whoever acts"], ...data.seats.map((name, seat) => [seat, name])];
  for (const [view, text] of views) {
    const button = element("button", { type: "button", textContent: text, title: text });
    button.dataset.view = view;
    button.addEventListener("click", () => {
      state.view = view;
      show();
    });
    $("views").append(button);
  }
  data.seats.forEach((_, seat) => {
    const key = element("span", { className: "key" });
    key.style.setProperty("--key", `var(--seat${seat})`);
    const policy = data.policies[seat] ?? "–";
    const head = element("th", { scope: "row" }, key, String(seat));
    $("seats").tBodies[0].append(
      element("tr", {}, head, element("td", { textContent: policy, title: policy }), element("td", { className: "number" }), element("td", { className: "number" })),
    );
  });
  if (data.fault !== null) {
    $("fault").textContent = `${data.seats[data.fault.seat]} failed: ${data.fault.reason}`;
    $("fault").hidden = false;
  }
  const about = [["Game", data.game], ["Seed", data.seed ?? "begins with a position"], ["Decisions", LAST], ["Written by", `easyenvs ${data.version}`]];
  if (data.result !== null) about.push(["Ended", data.result.truncated ? "cut off after the largest number of decisions" : "by the rules"]);
  for (const [name, value] of about) $("about").append(element("dt", { textContent: name }), element("dd", { textContent: value }));
  if (data.notes !== null) {
    $("about").append(element("dt", { textContent: "Notes" }), element("dd", {}, element("pre", { textContent: data.notes })));
  }

  show();
  drawGraph();
  new ResizeObserver(drawGraph).observe($("graph"));
})();
