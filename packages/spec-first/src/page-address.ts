import manifest from '../package.json' with { type: 'json' };

/** The package.json of the tools. It has the address of the repository once it is published. */
export interface Manifest {
  readonly version: string;
  readonly repository?: { readonly url: string };
}

/**
 * Returns the URL of a file in the repository, such as `docs/upgrading.md`; only its path if the
 * tools are not published.
 */
export function pageAddress(path: string, { repository }: Manifest = manifest): string {
  const files = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '/blob/main/') ?? '';
  return files + path;
}
