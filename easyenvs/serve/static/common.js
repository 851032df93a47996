// What both pages need: requests, elements, and the rules. Text is only ever set as text, never as HTML.

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** An answer as JSON (or as text); a Refused where the server has refused. */
export async function ask(method, path, body) {
  const options = { method, headers: {}, cache: "no-store" };
  if (method === "POST") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  const isJson = (answer.headers.get("Content-Type") || "").startsWith("application/json");
  const content = isJson ? await answer.json() : await answer.text();
  if (!answer.ok) {
    const error = isJson ? content.error : { code: "error", message: `the server answers ${answer.status}` };
    throw new Refused(answer.status, error.code, error.message);
  }
  return content;
}

export const find = (id) => document.getElementById(id);

/** A new element with attributes and children (texts or elements). */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function complain(error) {
  const problem = find("problem");
  problem.textContent = error instanceof Refused ? error.message : "The server does not answer. Is it still running?";
  problem.hidden = false;
}

export function calm() {
  find("problem").hidden = true;
}

export const choices = (values, chosen) =>
  values.map((value) => {
    const option = make("option", { value }, String(value));
    option.selected = value === chosen;
    return option;
  });

/** Text with **strong**, *emphasised* and `code` runs, as texts and elements. */
function inline(text) {
  const tags = { "**": "strong", "*": "em", "`": "code" };
  const parts = [];
  let at = 0;
  for (const run of text.matchAll(/(\*\*|\*|`)(\S.*?)\1/gu)) {
    parts.push(text.slice(at, run.index), make(tags[run[1]], {}, run[2]));
    at = run.index + run[0].length;
  }
  return [...parts, text.slice(at)];
}

function tableOf(lines) {
  const cells = (line) => line.split("|").slice(1, -1).map((cell) => cell.trim());
  const row = (name, line) => make("tr", {}, ...cells(line).map((cell) => make(name, {}, ...inline(cell))));
  const head = make("thead", {}, row("th", lines[0]));
  const table = make("table", {}, head, make("tbody", {}, ...lines.slice(2).map((line) => row("td", line))));
  return make("div", { class: "wide", tabindex: "0" }, table);
}

/**
 * Rules in Markdown, as far as they use it: headings, of which "## " has this level and "# " is left out, paragraphs, tables
 * and lists, their lines wrapped anywhere.
 */
export function rulesOf(text, level) {
  const parts = [];
  let open = null; // what the next line goes on with: { name, lines }
  const close = () => {
    if (open === null) return;
    const { name, lines } = open;
    if (name === "table") parts.push(tableOf(lines));
    else if (name === "p") parts.push(make("p", {}, ...inline(lines.join(" "))));
    else parts.push(make(name, {}, ...lines.map((line) => make("li", {}, ...inline(line)))));
    open = null;
  };
  const begin = (name) => {
    if (open !== null && open.name === name) return;
    close();
    open = { name, lines: [] };
  };
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    const item = /^(-|\d+\.) (.*)$/u.exec(line);
    const heading = /^(#+) (.*)$/u.exec(line);
    if (!line) {
      if (open !== null && (open.name === "p" || open.name === "table")) close();
    } else if (heading !== null) {
      close();
      const depth = level + heading[1].length - 2;
      if (heading[1].length > 1) parts.push(make(`h${depth}`, {}, ...inline(heading[2])));
    } else if (line.startsWith("|")) {
      begin("table");
      open.lines.push(line);
    } else if (item !== null) {
      begin(item[1] === "-" ? "ul" : "ol");
      open.lines.push(item[2]);
    } else if (open !== null && open.lines.length > 0 && (open.name === "p" || /^\s/u.test(raw))) {
      open.lines.push(`${open.lines.pop()} ${line}`);
    } else {
      begin("p");
      open.lines.push(line);
    }
  }
  close();
  return parts;
}
