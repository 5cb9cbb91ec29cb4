import { relative } from 'node:path';
import ts from 'typescript';

/** How many type errors are printed. */
const FEW = 10;

/** How much of a long source line is shown. Characters. */
const LONGEST_LINE = 160;

const host: ts.ParseConfigFileHost = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
const sources = new Map<string, ts.SourceFile>();
let builder: ts.SemanticDiagnosticsBuilderProgram | undefined;

/** Checks the types of the project, as far as it has changed since the last time. Empty if it has no tsconfig.json. */
export function describeTypeErrors(): string {
  const config = ts.getParsedCommandLineOfConfigFile('tsconfig.json', {}, host);
  if (config === undefined) return '';
  const reader = ts.createIncrementalCompilerHost(config.options);
  const cached: ts.CompilerHost = {
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
  };
  builder = ts.createSemanticDiagnosticsBuilderProgram(
    config.fileNames,
    config.options,
    cached,
    builder,
    config.errors,
  );
  const errors = [
    ...builder.getConfigFileParsingDiagnostics(),
    ...builder.getOptionsDiagnostics(),
    ...builder.getGlobalDiagnostics(),
    ...builder.getSyntacticDiagnostics(),
    ...builder.getSemanticDiagnostics(),
  ];
  if (errors.length === 0) return 'The types fit.';
  const rest = errors.length > FEW ? [`… and ${errors.length - FEW} more errors`] : [];
  return ['The types do not fit:', ...errors.slice(0, FEW).map(describe), ...rest].join('\n');
}

/** `file:line:column TScode message`, and the source line. */
function describe({ file, start = 0, code, messageText }: ts.Diagnostic): string {
  const message = `TS${code} ${innermost(messageText)}`;
  if (file === undefined) return message;
  const { line, character } = file.getLineAndCharacterOfPosition(start);
  const source = (file.text.split('\n')[line] ?? '').trim().slice(0, LONGEST_LINE);
  return `${relative('', file.fileName)}:${line + 1}:${character + 1} ${message}\n    ${source}`;
}

/** The most exact message. TypeScript puts it last, below those of the types around it. */
function innermost(message: string | ts.DiagnosticMessageChain): string {
  if (typeof message === 'string') return message;
  const [inner] = message.next ?? [];
  return inner === undefined ? message.messageText : innermost(inner);
}
