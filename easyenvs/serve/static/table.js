import { Refused, ask, calm, choices, complain, find, make, rulesOf } from "/static/common.js";

const RETRY = 2000;
const id = decodeURIComponent(location.pathname.split("/").pop());
const address = `/api/games/${encodeURIComponent(id)}`;
let state = null;
let asking = false;

const who = (seat) => state.seats[seat].name;

function show(next) {
  if (state !== null && next.version <= state.version) return; // an answer that was overtaken
  const hadFocus = find("moves").contains(document.activeElement);
  state = next;
  document.title = `${state.over ? "Over" : state.thinking ? "…" : "Your move"} · ${state.title}`;
  find("title").textContent = state.title;
  find("where").textContent = state.where.startsWith(`${state.title}, `) ? state.where.slice(state.title.length + 2) : state.where;
  find("status").textContent = state.status;
  find("text").textContent = state.text;
  showPicture();
  showSeats();
  showLog();
  showMoves(hadFocus);
  showEnd();
  document.body.dataset.version = state.version;
}

function showPicture() {
  find("dark").srcset = `${address}/table.svg?theme=dark&v=${state.version}`;
  find("picture").src = `${address}/table.svg?theme=light&v=${state.version}`;
  find("picture").alt = `${state.where}: ${state.status}. The table as text is further down.`;
}

function showSeats() {
  find("seats").replaceChildren(
    ...state.seats.map((seat, number) => {
      const name = make("td", {}, seat.name);
      if (seat.acts) name.append(" ", make("span", { class: "badge" }, "to act"));
      const points = seat.rank === null ? `${seat.score}` : `${seat.score} (rank ${seat.rank})`;
      return make("tr", number === state.you ? { class: "you" } : {}, make("td", {}, String(number)), name, make("td", {}, points));
    }),
  );
}

function showLog() {
  const log = find("log");
  // Only what is new is added, so that screen readers read nothing else.
  const shown = [...log.children].map((item) => item.dataset.move);
  const moves = state.log.map((move) => `${move.seat} ${move.name}`);
  let same = 0;
  while (same < shown.length && same < moves.length && shown[same] === moves[same]) same += 1;
  while (log.children.length > same) log.lastChild.remove();
  for (const move of state.log.slice(same)) {
    const item = make("li", { "data-move": `${move.seat} ${move.name}` }, make("span", {}, who(move.seat)), " ", make("code", {}, move.name));
    if (move.seat === state.you) item.classList.add("you");
    log.append(item);
  }
  log.scrollTop = log.scrollHeight;
}

function showMoves(hadFocus) {
  find("moves-title").textContent = state.over ? "The game is over" : state.thinking ? "The others play …" : "Your moves";
  find("moves").replaceChildren(
    ...state.groups.map((group) =>
      make(
        "div",
        { class: "group", role: "group", "aria-label": group.title || "moves" },
        make("p", { class: "group-title", "aria-hidden": "true" }, group.title),
        make("div", { class: "buttons" }, ...group.actions.map(moveButton)),
      ),
    ),
  );
  find("advised").textContent = "";
  find("undo").disabled = !state.can_undo;
  find("undo").hidden = find("advice").hidden = state.over;
  find("hint").disabled = state.groups.length === 0;
  if (find("adviser").children.length === 0) {
    const usual = state.hints.includes("heuristic") ? "heuristic" : state.hints[0];
    find("adviser").replaceChildren(...choices(state.hints, usual));
  }
  if (hadFocus) (find("moves").querySelector("button") || find("status")).focus();
}

function moveButton(action) {
  const button = make("button", { type: "button", class: "move", "data-action": action.name }, action.label);
  if (action.label !== action.name) button.setAttribute("aria-label", action.name);
  button.addEventListener("click", () => change("act", { action: action.name }));
  return button;
}

function showEnd() {
  find("end").hidden = !state.over;
  if (!state.over) return;
  const mine = state.seats[state.you];
  if (state.fault !== null) {
    find("outcome").textContent = `${who(state.fault.seat)} could not go on, and the game ends here: ${state.fault.reason}`;
  } else {
    const first = state.seats.filter((seat) => seat.rank === Math.min(...state.seats.map((other) => other.rank)));
    const winners = first.map((seat) => seat.name).join(" and ");
    const yours = first.includes(mine) ? "" : ` Your rank is ${mine.rank} of ${state.seats.length}.`;
    const many = first.length > 1 || first.includes(mine);
    find("outcome").textContent = `${winners} ${many ? "win" : "wins"}.${yours}`;
  }
  find("record").href = `${address}/record`;
}

async function change(what, values) {
  if (asking) return;
  asking = true;
  try {
    show(await ask("POST", `${address}/${what}`, { version: state.version, ...values }));
    calm();
  } catch (error) {
    complain(error);
    // Another page of the same game was quicker: show what there is now.
    if (error instanceof Refused && error.code === "stale") show(await ask("GET", address));
  } finally {
    asking = false;
  }
}

async function advise() {
  const policy = find("adviser").value;
  const version = state.version;
  find("hint").disabled = true;
  find("advised").textContent = `${policy} is thinking …`;
  try {
    const hint = await ask("POST", `${address}/hint`, { version, policy });
    calm();
    if (state.version !== version) return;
    find("advised").replaceChildren(`${policy} would play `, make("strong", {}, hint.action), ".");
    for (const button of find("moves").querySelectorAll("button")) {
      button.classList.toggle("hinted", button.dataset.action === hint.action);
      button.querySelector("small")?.remove();
      if (hint.probabilities !== null) {
        button.append(make("small", {}, `${Math.round(100 * hint.probabilities[button.dataset.action])} %`));
      }
    }
  } catch (error) {
    find("advised").textContent = "";
    complain(error);
  } finally {
    find("hint").disabled = state.groups.length === 0;
  }
}

async function again() {
  try {
    const seats = state.seats.map((seat) => seat.policy);
    const game = await ask("POST", "/api/games", { game: state.game, seats });
    location.assign(`/game/${encodeURIComponent(game.id)}`);
  } catch (error) {
    complain(error);
  }
}

/** Arrow keys go from move to move. */
function walk(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const buttons = [...find("moves").querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  buttons[(at + step + buttons.length) % buttons.length].focus();
}

function enlarge() {
  const isLarge = find("frame").classList.toggle("large");
  find("larger").setAttribute("aria-pressed", String(isLarge));
}

const later = (time) => new Promise((done) => setTimeout(done, time));

/** News of the game, as they come. */
async function follow() {
  let isLost = false;
  for (;;) {
    try {
      show(await ask("GET", `${address}?after=${state.version}`));
      if (isLost) calm();
      isLost = false;
    } catch (error) {
      complain(error);
      if (error instanceof Refused) return; // the game was closed, or the run is another one
      isLost = true;
      await later(RETRY);
    }
  }
}

async function start() {
  find("undo").addEventListener("click", () => change("undo", {}));
  find("hint").addEventListener("click", advise);
  find("again").addEventListener("click", again);
  find("larger").addEventListener("click", enlarge);
  find("moves").addEventListener("keydown", walk);
  try {
    show(await ask("GET", address));
    find("rules-text").replaceChildren(...rulesOf(await ask("GET", `/api/rules/${encodeURIComponent(state.game)}`), 3));
  } catch (error) {
    complain(error);
    return;
  }
  follow();
}

start();
