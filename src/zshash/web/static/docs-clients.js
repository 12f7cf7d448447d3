/** Examples for the clients in Python and JavaScript, for the operations that they have a method for. */

/** Lines of code for an operation in "Python" or "JavaScript"; null where the client has no method for it. */
export function clientSample(language, operation, { server, needsToken, values }) {
  const call = { Python: PYTHON, JavaScript: JAVASCRIPT }[language][operation];
  if (!call) return null;
  const head = language === "Python" ? pythonHead(server, needsToken) : javascriptHead(server, needsToken);
  return [...head, ...[call(values)].flat()].join("\n");
}

function pythonHead(server, needsToken) {
  const address = JSON.stringify(server);
  const start = needsToken ? ["import os", "", "import zshash"] : ["import zshash"];
  return [...start, "", `album = zshash.Client(${address}${needsToken ? ', os.environ["ZSHASH_TOKEN"]' : ""})`];
}

function javascriptHead(server, needsToken) {
  const address = JSON.stringify(server);
  return [
    `import { Client } from ${JSON.stringify(`${server}/static/zshash.js`)};`, "",
    `const album = new Client(${address}${needsToken ? ", { token }" : ""});`,
  ];
}

/** Results of a search, in Python and in JavaScript. */
const matches = (call) => [`for match in ${call}:`, "    print(match.id, match.score)"];
const results = (call) => [`const { results } = ${call};`, "for (const { id, score } of results) console.log(id, score);"];
const printed = (call) => `print(${call})`;
const logged = (call) => `console.log(await ${call});`;

const PYTHON = {
  getInfo: () => printed("album.info()"),
  search: (values) => matches(`album.search(${keywords(weighed(values))})`),
  searchWith: (values) => matches(`album.search("holiday.jpg", ${keywords(weighed(values))})`),
  searchBatch: ({ k }) => [`ids, scores = album.nearest(features, k=${k})`],
  completeName: ({ begins }) => printed(`album.names(${literal(begins)})`),
  listItems: ({ label, where }) => [`for item in album.items(${keywords({ where, label })}):`, "    print(item.id, item.labels)"],
  getThumbnail: ({ id }) => pythonFile(`album.thumbnail(${id})`),
  getPicture: ({ id, side }) => pythonFile(`album.picture(${id}, side=${side})`),
  addPictures: () => printed('album.add(["holiday.jpg"], labels="beach")'),
  removeItem: ({ id }) => `undo = album.remove(${id})`,
  removeItems: ({ ids }) => `undo = album.remove(${literal(ids)})`,
  restoreItems: ({ undo }) => printed(`album.restore(${literal(undo)})`),
  labelItems: ({ ids, label, how }) => `album.label(${literal(ids)}, ${literal(label)}, how=${literal(how)})`,
  refit: () => printed("album.refit()"),
};

const JAVASCRIPT = {
  getInfo: () => logged("album.info()"),
  search: (values) => results(`await album.search(${spelled(values)})`),
  searchWith: (values) => results(`await album.search({ picture: file, ${spelled(values).slice(2)})`),
  searchBatch: ({ queries, k }) => `const answers = await album.searchMany([\n${queries.map(wanted).join("")}], { k: ${k} });`,
  completeName: ({ begins }) => logged(`album.names(${spell(begins)})`),
  listItems: ({ label, where }) => `for await (const item of album.items(${spelled({ where, label })})) console.log(item.id, item.labels);`,
  getThumbnail: ({ id }) => `const thumbnail = await album.thumbnail(${id});`,
  getPicture: ({ id, side }) => `const picture = await album.picture(${id}, { side: ${side} });`,
  exportItems: (values) => `const file = await album.export(${spelled(values)});`,
  addPictures: () => logged('album.add(files, { labels: "beach" })'),
  removeItem: ({ id }) => `const undo = await album.remove(${id});`,
  removeItems: ({ ids }) => `const undo = await album.remove(${spell(ids)});`,
  restoreItems: ({ undo }) => logged(`album.restore(${spell(undo)})`),
  labelItems: ({ ids, label, how }) => `await album.label(${spell(ids)}, ${spell(label)}, ${spelled({ how })});`,
  listDuplicates: (values) => `const { groups } = await album.duplicates(${spelled(values)});`,
  keepDuplicates: ({ key }) => `await album.keep(${spell(key)});`,
  forgetDuplicates: ({ key }) => `await album.forget(${spell(key)});`,
  refit: () => logged("album.refit({ seen: ({ done }) => console.log(done) })"),
};

const pythonFile = (call) => ['with open("item.webp", "wb") as file:', `    file.write(${call})`];

/** Names with weights as `search` in Python takes them: "dog:2" counts twice. */
function weighed({ name, ...values }) {
  const pairs = [name].flat().map((own) => own.split(":")).map(([text, weight]) => [text, Number(weight ?? 1)]);
  return { name: Object.fromEntries(pairs), ...values };
}

function wanted({ id, ...query }) {
  return `  ${spelled(id === undefined ? query : { item: id, ...query })},\n`;
}

/** Values as keywords of a call in Python. */
function keywords(values) {
  return Object.entries(values).filter(([, own]) => own !== undefined).map(([key, own]) => `${key}=${literal(own)}`).join(", ");
}

/** Values as an object in JavaScript. */
function spelled(values) {
  const pairs = Object.entries(values).filter(([, own]) => own !== undefined);
  return `{ ${pairs.map(([key, own]) => `${key}: ${spell(own)}`).join(", ")} }`;
}

/** A text, number or list as JavaScript writes it. */
const spell = (value) => (Array.isArray(value) ? `[${value.map(spell).join(", ")}]` : JSON.stringify(value));

/** A value as Python writes it. */
export function literal(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, own]) => `${spell(key)}: ${literal(own)}`).join(", ")}}`;
}
