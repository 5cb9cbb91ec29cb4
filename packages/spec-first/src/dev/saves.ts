import { existsSync, type FSWatcher, readdirSync, watch } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** One save is often several events. Milliseconds. */
const SETTLE = 30;

/** Calls `saved` after each save of a file of the document, or of a source file in `src`. */
export function watchSaves(document: string, saved: () => void) {
  const source = resolve('src');
  let watchers: FSWatcher[] = [];
  let documents = [document];
  let timer: NodeJS.Timeout | undefined;

  /** Watches the folders that are there now. `files` are those of the document, by default the same as before. */
  function renew(files: readonly string[] = documents): void {
    documents = [...new Set([document, ...files])];
    const folders = new Set([...foldersIn(source), ...documents.map(existingFolder)]);
    const former = watchers;
    // Folders are watched, not files: an editor may replace a file by a new one.
    watchers = [...folders].map((folder) =>
      watch(folder, (_event, name) => {
        if (name === null || !concerns(join(folder, name))) return;
        clearTimeout(timer);
        timer = setTimeout(saved, SETTLE);
      }).on('error', () => undefined),
    );
    for (const watcher of former) watcher.close();
  }

  function concerns(path: string): boolean {
    if (documents.some((file) => file === path || file.startsWith(path + sep))) return true;
    return path.startsWith(source + sep) && (/\.(ts|js|css|json)$/.test(path) || !relative(source, path).includes('.'));
  }

  renew();
  return { renew };
}

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
