// Writes what TypeScript's own compiler sees of some packages: each export of each module that can
// be imported, their members, and those of object types within properties and parameters, with
// places and documentation.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { relative } from "node:path";

const [root, ...names] = process.argv.slice(2);
const ts = createRequire(`${root}/package.json`)("typescript");
const { SymbolFlags, TypeFlags } = ts;
const file = `${root}/items.mts`;
const NOT_OBJECTS =
  TypeFlags.StringLike | TypeFlags.NumberLike | TypeFlags.BooleanLike | TypeFlags.BigIntLike |
  TypeFlags.ESSymbolLike | TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never;

function modulesOf(name) {
  const { exports } = JSON.parse(readFileSync(`${root}/node_modules/${name}/package.json`));
  const keys = exports && typeof exports === "object" ? Object.keys(exports) : [];
  if (!keys.some((key) => key.startsWith("."))) return [name];
  const plain = keys.filter((key) => exports[key] !== null && !/\*|\.(json|css)$|\/$/.test(key));
  return plain.map((key) => name + key.slice(1));
}

// The modules that @types/node declares have names of their own.
const imported = names
  .filter((name) => name !== "@types/node")
  .flatMap((name) => modulesOf(name).map((module) => [name, module]));
const lines = imported.map(([, m], i) => `import * as m${i} from ${JSON.stringify(m)}; m${i};`);
const text = ['/// <reference types="node" />', ...lines].join("\n");
const options = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ESNext,
  strict: true,
  types: [],
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
};
const format = { languageVersion: ts.ScriptTarget.ESNext, impliedNodeFormat: ts.ModuleKind.ESNext };
const host = ts.createCompilerHost(options);
const { readFile, fileExists, getSourceFile } = host;
host.readFile = (name) => (name === file ? text : readFile(name));
host.fileExists = (name) => name === file || fileExists(name);
host.getSourceFile = (name, ...rest) =>
  name === file ? ts.createSourceFile(file, text, format, true) : getSourceFile(name, ...rest);
const program = ts.createProgram([file], options, host);
const checker = program.getTypeChecker();

let name, found, seen;

function isOwn(fileName) {
  const inside = relative(`${root}/node_modules`, fileName);
  const typed = `@types/${name.replace("@", "").replace("/", "__")}`;
  return [`${name}/`, `${typed}/`].some((start) => inside.startsWith(start));
}

function places(symbol) {
  const own = (symbol.declarations ?? []).filter((each) => isOwn(each.getSourceFile().fileName));
  return own.map((each) => {
    const source = each.getSourceFile();
    const whole = ts.isVariableDeclaration(each) ? each.parent.parent : each;
    const line = (node) => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    return [relative(`${root}/node_modules`, source.fileName), line(whole), line(each)];
  });
}

function note(path, symbol) {
  const at = places(symbol);
  const key = `${at.join("|")} ${symbol.name}`;
  if (!at.length || seen.has(key)) return false;
  seen.add(key);
  const doc = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  found.push({ path, name: symbol.name, at, doc });
  return true;
}

function addMembers(path, type, depth) {
  if (type.flags & NOT_OBJECTS || depth > 4) return;
  if (checker.isArrayType(type) || checker.isTupleType(type)) return;
  for (const each of checker.getPropertiesOfType(type)) {
    const isPrivate = (each.declarations ?? []).some(
      (one) => ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Private,
    );
    if (isPrivate || each.name === "prototype" || /^[_#]|\./.test(each.name)) continue;
    const inner = `${path}.${each.name}`;
    if (note(inner, each)) addInline(inner, each, depth + 1);
  }
}

function addInline(path, symbol, depth) {
  const add = (inner, node) => {
    if (!node) return;
    if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node))
      for (const part of node.types) add(inner, part);
    else if (ts.isTypeLiteralNode(node))
      addMembers(inner, checker.getTypeFromTypeNode(node), depth);
  };
  for (const each of symbol.declarations ?? []) {
    if (ts.isPropertySignature(each) || ts.isPropertyDeclaration(each)) add(path, each.type);
    for (const parameter of each.parameters ?? [])
      if (ts.isIdentifier(parameter.name)) add(`${path}.${parameter.name.text}`, parameter.type);
  }
}

function addSymbol(path, symbol, depth) {
  if (symbol.flags & SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const isFile = symbol.declarations?.some(ts.isSourceFile);
  if ((!isFile && !note(path, symbol)) || depth > 6) return;
  if (symbol.flags & (SymbolFlags.ValueModule | SymbolFlags.NamespaceModule))
    for (const each of checker.getExportsOfModule(symbol))
      if (!/^_|^export=$/.test(each.name)) addSymbol(`${path}.${each.name}`, each, depth + 1);
  if (symbol.flags & SymbolFlags.Enum)
    for (const each of symbol.exports.values()) note(`${path}.${each.name}`, each);
  if (symbol.flags & (SymbolFlags.Class | SymbolFlags.Interface | SymbolFlags.TypeAlias))
    addMembers(path, checker.getDeclaredTypeOfSymbol(symbol), 0);
  if (symbol.flags & (SymbolFlags.Class | SymbolFlags.Variable))
    addMembers(path, checker.getTypeOfSymbol(symbol), 0);
  if (symbol.flags & SymbolFlags.Function) addInline(path, symbol, 0);
}

const statements = program.getSourceFile(file).statements.filter(ts.isImportDeclaration);
const modules = statements.map((each, index) => [
  ...imported[index],
  checker.getSymbolAtLocation(each.moduleSpecifier),
]);
for (const symbol of checker.getAmbientModules()) {
  const specifier = symbol.name.slice(1, -1);
  if (specifier.startsWith("node:")) modules.push(["@types/node", specifier, symbol]);
}
const result = {};
for (name of names) {
  [found, seen] = [[], new Set()];
  for (const [owner, module, symbol] of modules) {
    if (owner !== name || !symbol) continue;
    for (const each of checker.getExportsOfModule(symbol))
      if (!/^_|^export=$|^module\.exports$/.test(each.name))
        addSymbol(`${module}.${each.name}`, each, 0);
  }
  result[name] = found;
}
process.stdout.write(JSON.stringify(result));
