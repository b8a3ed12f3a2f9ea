// Writes what TypeScript's own compiler sees of some modules: exports, members, and how many
// arguments a call takes.
import { createRequire } from "node:module";

const [root, ...modules] = process.argv.slice(2);
const ts = createRequire(`${root}/package.json`)("typescript");
const file = `${root}/names.mts`;
const text = modules.map((m, i) => `import * as m${i} from ${JSON.stringify(m)}; m${i};`).join("\n");
const options = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ESNext,
  strict: true,
  esModuleInterop: true,
  types: [],
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
};
const host = ts.createCompilerHost(options);
const { readFile, fileExists, getSourceFile } = host;
host.readFile = (name) => (name === file ? text : readFile(name));
host.fileExists = (name) => name === file || fileExists(name);
host.getSourceFile = (name, ...rest) =>
  name === file
    ? ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)
    : getSourceFile(name, ...rest);
const program = ts.createProgram([file], options, host);
const checker = program.getTypeChecker();
const HAS_REST = 1;

function arity(type) {
  const calls = [...type.getCallSignatures(), ...type.getConstructSignatures()];
  if (!calls.length) return null;
  const most = (call) => (call.flags & HAS_REST ? 999 : call.parameters.length);
  return [Math.min(...calls.map((c) => c.minArgumentCount)), Math.max(...calls.map(most))];
}

function add(members, type) {
  if (type.flags & ts.TypeFlags.Any) return;
  for (const each of checker.getPropertiesOfType(type)) {
    if (/^(__|#)|\./.test(each.name)) continue;
    members[each.name] ??= arity(checker.getTypeOfSymbol(each));
  }
}

const PRIMITIVE =
  ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike;
const WITH_MEMBERS =
  ts.SymbolFlags.Variable | ts.SymbolFlags.Class | ts.SymbolFlags.Enum | ts.SymbolFlags.Module;
const found = {};
program
  .getSourceFile(file)
  .statements.filter(ts.isImportDeclaration)
  .forEach((statement, index) => {
    const exports = {};
    const module = checker.getSymbolAtLocation(statement.moduleSpecifier);
    for (const each of checker.getExportsOfModule(module)) {
      if (each.name === "module.exports") continue;
      const alias = each.flags & ts.SymbolFlags.Alias;
      const symbol = alias ? checker.getAliasedSymbol(each) : each;
      const value = symbol.flags & ts.SymbolFlags.Value ? checker.getTypeOfSymbol(symbol) : null;
      const members = {};
      if (value && symbol.flags & WITH_MEMBERS && !(value.flags & PRIMITIVE)) add(members, value);
      if (symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface))
        add(members, checker.getDeclaredTypeOfSymbol(symbol));
      const known = value && !(value.flags & ts.TypeFlags.Any);
      exports[each.name] = { members, arity: known ? arity(value) : null };
    }
    found[modules[index]] = exports;
  });
process.stdout.write(JSON.stringify(found));
