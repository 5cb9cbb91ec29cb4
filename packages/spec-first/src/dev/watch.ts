import { existsSync, type FSWatcher, watch } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** The pause that ends a save, in milliseconds. A save often causes several events. */
export const SAVE_PAUSE_MS = 30;

/**
 * Calls `onSave` after each save of a source file in `src` or of a file of the document. Saves
 * within `SAVE_PAUSE_MS` of each other are one call.
 *
 * @param signal ends the watch.
 * @returns a function that takes the absolute paths of the document's files. They replace the
 *   earlier ones.
 */
export function watchSaves(
  onSave: (isDocument: boolean) => void,
  signal?: AbortSignal,
): (files: readonly string[]) => void {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let includesDocument = false;
  const scheduleCall = (isDocument: boolean): void => {
    includesDocument ||= isDocument;
    clearTimeout(timer);
    timer = setTimeout(() => {
      onSave(includesDocument);
      includesDocument = false;
    }, SAVE_PAUSE_MS);
  };
  watch('src', { recursive: true, signal }, (_event, name) => {
    if (/\.(ts|js|css|json)$/.test(name ?? '')) scheduleCall(false);
  });

  return (files) => {
    const formerWatchers = watchers;
    // Folders are watched, not files: an editor may replace a file with a new one.
    watchers = [...new Set(files.map(existingFolder))].map((folder) =>
      watch(folder, { signal }, (_event, name) => {
        const path = join(folder, name ?? '');
        if (files.some((file) => file === path || file.startsWith(path + sep))) scheduleCall(true);
      }).on('error', () => undefined),
    );
    for (const watcher of formerWatchers) watcher.close();
  };
}

/** Returns the folder of a file, or the nearest existing one around it. */
function existingFolder(file: string): string {
  const folder = dirname(file);
  return existsSync(folder) ? folder : existingFolder(folder);
}
