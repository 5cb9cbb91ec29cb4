/** The compiler of the loop, in a thread of its own: checks the project each time it is told to, what has changed anew. */
import { relative } from 'node:path';
import { parentPort } from 'node:worker_threads';
import ts from 'typescript';

const host: ts.ParseConfigFileHost = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
const sources = new Map<string, ts.SourceFile>();
let builder: ts.SemanticDiagnosticsBuilderProgram | undefined;

parentPort?.on('message', () => parentPort?.postMessage(check()));

/** What the compiler finds, as `file:line:column TScode message`; `undefined` where the project has no tsconfig.json. */
function check(): readonly string[] | undefined {
  const config = ts.getParsedCommandLineOfConfigFile('tsconfig.json', {}, host);
  if (config === undefined) return undefined;
  const reader = ts.createIncrementalCompilerHost(config.options);
  builder = ts.createSemanticDiagnosticsBuilderProgram(
    config.fileNames,
    config.options,
    {
      ...reader,
      getSourceFile(name, ...rest) {
        const known = sources.get(name);
        if (known !== undefined && (name.includes('/node_modules/') || known.text === ts.sys.readFile(name)))
          return known;
        const source = reader.getSourceFile(name, ...rest);
        if (source === undefined) sources.delete(name);
        else sources.set(name, source);
        return source;
      },
    },
    builder,
    config.errors,
  );
  return [
    ...builder.getConfigFileParsingDiagnostics(),
    ...builder.getOptionsDiagnostics(),
    ...builder.getGlobalDiagnostics(),
    ...builder.getSyntacticDiagnostics(),
    ...builder.getSemanticDiagnostics(),
  ].map(describe);
}

function describe({ file, start = 0, code, messageText }: ts.Diagnostic): string {
  const message = `TS${code} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  if (file === undefined) return message;
  const { line, character } = file.getLineAndCharacterOfPosition(start);
  return `${relative('', file.fileName)}:${line + 1}:${character + 1} ${message}`;
}
