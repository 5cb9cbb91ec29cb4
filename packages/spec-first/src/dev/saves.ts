import { existsSync, type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** One save is often several events. Milliseconds. */
const SETTLE = 30;

/**
 * Calls `saved` after each save of a file of the document, or of a source file in `src`.
 *
 * @param saved is told whether a file of the document was saved.
 */
export function watchSaves(document: string, saved: (ofDocument: boolean) => void) {
  const source = resolve('src');
  let watchers: FSWatcher[] = [];
  let documents = [document];
  let timer: NodeJS.Timeout | undefined;
  let ofDocument = false;

  /** Watches the folders that are there now. `files` are those of the document, by default the same as before. */
  function renew(files: readonly string[] = documents): void {
    documents = [...new Set([document, ...files])];
    const folders = new Set([...foldersIn(source), ...documents.map(existingFolder)]);
    const former = watchers;
    // Folders are watched, not files: an editor may replace a file by a new one.
    watchers = [...folders].map((folder) =>
      watch(folder, (_event, name) => {
        if (name === null) return;
        const path = join(folder, name);
        if (isOfDocument(path)) ofDocument = true;
        else if (!isSource(path)) return;
        settle(path);
      }).on('error', () => undefined),
    );
    for (const watcher of former) watcher.close();
  }

  function settle(path: string): void {
    const size = sizeOf(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      // A large file may still be written.
      if (sizeOf(path) !== size) return settle(path);
      saved(ofDocument);
      ofDocument = false;
    }, SETTLE);
  }

  const isOfDocument = (path: string) => documents.some((file) => file === path || file.startsWith(path + sep));
  const isSource = (path: string) =>
    path.startsWith(source + sep) && (/\.(ts|js|css|json)$/.test(path) || !relative(source, path).includes('.'));

  renew();
  return { renew };
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size;

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const inside = readdirSync(folder, { recursive: true, withFileTypes: true });
  return [
    folder,
    ...inside.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name)),
  ];
}

/** The folder of a file, or the nearest existing one around it. */
function existingFolder(file: string): string {
  const folder = dirname(file);
  return existsSync(folder) ? folder : existingFolder(folder);
}
