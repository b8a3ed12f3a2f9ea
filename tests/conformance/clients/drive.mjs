// The TypeScript SDK does all of a plan: node drive.mjs v1|v2 PLAN.json (URL | COMMAND WORD…)
// It prints what drive.py prints.
import { readFileSync } from "node:fs";

const [era, file, ...target] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(file, "utf8"));
const stdio = target.length > 1;
const own = { command: target[0], args: target.slice(1), env: process.env };

async function open() {
  const info = { name: "docstow-clients", version: "1" };
  if (era === "v1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const client = new Client(info);
    if (stdio) {
      const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
      await client.connect(new StdioClientTransport(own));
    } else {
      const { StreamableHTTPClientTransport } = await import(
        "@modelcontextprotocol/sdk/client/streamableHttp.js"
      );
      await client.connect(new StreamableHTTPClientTransport(new URL(target[0])));
    }
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client(info);
  const transport = stdio
    ? new StdioClientTransport(own)
    : new StreamableHTTPClientTransport(new URL(target[0]));
  await client.connect(transport);
  return client;
}

const done = { client: `typescript ${era}`, listed: {}, done: {}, lacks: [], failed: [] };
const kept = {};

async function attempt(what, name, work) {
  let problem;
  try {
    problem = await work();
  } catch (error) {
    problem = `${error.name}: ${error.message}`.slice(0, 400);
  }
  if (typeof problem === "string" || !problem) {
    done.failed.push([what, name, problem || "nothing came back"]);
  } else {
    done.done[what] = (done.done[what] ?? 0) + 1;
  }
}

const client = await open();
const read = async (uri) => (await client.readResource({ uri })).contents.length > 0;
// The newer client asks for all pages itself.
async function all(list, member) {
  const rows = [];
  let cursor;
  do {
    const page = await list(cursor ? { cursor } : undefined);
    rows.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor);
  return rows;
}

const tools = await all((given) => client.listTools(given), "tools");
const resources = await all((given) => client.listResources(given), "resources");
const resourceTemplates = await all(
  (given) => client.listResourceTemplates(given),
  "resourceTemplates",
);
const prompts = await all((given) => client.listPrompts(given), "prompts");
const names = new Set(tools.map((tool) => tool.name));
done.listed = {
  tools: tools.length,
  resources: resources.length,
  templates: resourceTemplates.length,
  prompts: prompts.length,
};
for (const { uri } of resources) await attempt("read", uri, () => read(uri));
for (const [name, given] of plan.calls.filter(([name]) => names.has(name))) {
  await attempt("call", name, async () => {
    let text = JSON.stringify(given);
    for (const [mark, value] of Object.entries(kept)) text = text.replaceAll(mark, value);
    const found = await client.callTool({ name, arguments: JSON.parse(text) });
    const answer = found.content.map((block) => block.text ?? "").join("");
    if (found.isError) return answer.slice(0, 400);
    for (const [mark, [giver, way]] of Object.entries(plan.kept)) {
      if (giver === name) kept[mark] = way.reduce((value, step) => value[step], JSON.parse(answer));
    }
    return answer !== "";
  });
}
for (const uri of plan.resources) await attempt("read", uri, () => read(uri));
for (const [name, given] of Object.entries(plan.prompts)) {
  await attempt("prompt", name, async () => {
    return (await client.getPrompt({ name, arguments: given })).messages.length > 0;
  });
}
for (const [type, named, name, value, given] of plan.completions) {
  await attempt("complete", `${named} ${name}`, async () => {
    const ref = type === "ref/prompt" ? { type, name: named } : { type, uri: named };
    const argument = { name, value };
    const found = await client.complete({ ref, argument, context: { arguments: given } });
    return found.completion.values.length > 0;
  });
}
await client.close();
console.log(JSON.stringify(done));
