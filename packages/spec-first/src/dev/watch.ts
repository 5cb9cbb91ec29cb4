import { existsSync, type FSWatcher, watch } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** The pause after the last event of a save, which is often several events. Milliseconds. */
const SETTLE = 30;

/**
 * Calls `saved` after each save in `src` or of the document. Returns a function that takes the
 * files of the document.
 */
export function watchSaves(
  saved: (ofDocument: boolean) => void,
): (files: readonly string[]) => void {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let ofDocument = false;
  const settle = (isDocument: boolean): void => {
    ofDocument ||= isDocument;
    clearTimeout(timer);
    timer = setTimeout(() => {
      saved(ofDocument);
      ofDocument = false;
    }, SETTLE);
  };
  watch('src', { recursive: true }, (_event, name) => {
    if (/\.(ts|js|css|json)$/.test(name ?? '')) settle(false);
  });

  return (files) => {
    const former = watchers;
    // Folders are watched, not files: an editor may replace a file by a new one.
    watchers = [...new Set(files.map(existingFolder))].map((folder) =>
      watch(folder, (_event, name) => {
        const path = join(folder, name ?? '');
        if (files.some((file) => file === path || file.startsWith(path + sep))) settle(true);
      }).on('error', () => undefined),
    );
    for (const watcher of former) watcher.close();
  };
}

/** Returns the folder of a file, or the nearest existing one around it. */
function existingFolder(file: string): string {
  const folder = dirname(file);
  return existsSync(folder) ? folder : existingFolder(folder);
}
