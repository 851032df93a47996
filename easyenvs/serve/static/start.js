import { ask, calm, choices, complain, find, make, rulesOf } from "/static/common.js";

const REFRESH = 3000;
let games = [];

const chosen = () => games.find((game) => game.game === new FormData(find("new")).get("game"));

function showGames() {
  find("games").replaceChildren(
    ...games.map((game, index) => {
      const input = make("input", { type: "radio", name: "game", value: game.game });
      input.checked = index === 0;
      return make("label", { class: "radio" }, input, make("span", {}, game.title));
    }),
  );
}

function showPlayers() {
  const game = chosen();
  find("players").replaceChildren(...choices(game.players, game.usual));
  showSeats();
}

function showSeats() {
  const players = Number(find("players").value);
  const before = Math.min(Number(find("seat").value), players - 1);
  find("seat").replaceChildren(...choices([...Array(players).keys()], before));
  showOpponents();
}

function showOpponents() {
  const game = chosen();
  const players = Number(find("players").value);
  const before = [...find("opponents").querySelectorAll("select")].map((select) => select.value);
  const usual = game.policies.includes("heuristic") ? "heuristic" : game.policies[0];
  const fields = [];
  for (let distance = 1; distance < players; distance += 1) {
    const seat = (Number(find("seat").value) + distance) % players;
    const kept = game.policies.includes(before[distance - 1]) ? before[distance - 1] : usual;
    fields.push(make("label", {}, `Seat ${seat} `, make("select", { "data-seat": seat }, ...choices(game.policies, kept))));
  }
  find("opponents").replaceChildren(...fields);
}

async function showRules() {
  const game = chosen();
  const text = await ask("GET", `/api/rules/${encodeURIComponent(game.game)}`);
  if (game !== chosen()) return; // another was chosen meanwhile
  find("rules").hidden = text === "";
  find("rules-text").replaceChildren(...rulesOf(text, 3));
}

function showOpen(open) {
  find("none").hidden = open.length > 0;
  find("open").replaceChildren(
    ...open.map((game) => {
      const title = `${game.title}: ${game.seats.join(", ")}`;
      const link = make("a", { href: `/game/${encodeURIComponent(game.id)}` }, title);
      const close = make("button", { type: "button", class: "quiet", "aria-label": `Close ${title}` }, "Close");
      close.addEventListener("click", () => leave(game.id));
      return make("li", {}, make("div", {}, link, make("p", { class: "faint" }, game.status)), close);
    }),
  );
}

async function leave(id) {
  try {
    await ask("DELETE", `/api/games/${encodeURIComponent(id)}`);
    calm();
  } catch (error) {
    complain(error);
  }
  await refresh();
}

async function deal(event) {
  event.preventDefault();
  const seats = Array(Number(find("players").value)).fill("human");
  for (const select of find("opponents").querySelectorAll("select")) seats[Number(select.dataset.seat)] = select.value;
  try {
    const game = await ask("POST", "/api/games", { game: chosen().game, seats });
    location.assign(`/game/${encodeURIComponent(game.id)}`);
  } catch (error) {
    complain(error);
  }
}

let last = "";
async function refresh() {
  const menu = await ask("GET", "/api/menu");
  const open = JSON.stringify(menu.open);
  if (open !== last) showOpen(menu.open); // not needlessly: a link that has the focus would lose it
  last = open;
  return menu;
}

async function watch() {
  try {
    await refresh();
  } catch (error) {
    complain(error);
  }
  setTimeout(watch, REFRESH);
}

async function start() {
  try {
    games = (await refresh()).games;
  } catch (error) {
    complain(error);
    return;
  }
  showGames();
  find("games").addEventListener("change", () => {
    showPlayers();
    showRules().catch(complain);
  });
  find("players").addEventListener("change", showSeats);
  find("seat").addEventListener("change", showOpponents);
  find("new").addEventListener("submit", deal);
  showPlayers(); // whoever chooses before the rules have come is heard already
  await showRules().catch(complain);
  document.body.dataset.ready = "";
  setTimeout(watch, REFRESH);
}

start();
