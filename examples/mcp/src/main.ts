import { loadDocument } from 'openapi-document';
import { serve } from 'spec-first-server';
import { handlers } from './handlers.ts';
import { mcpEndpoint } from './mcp.ts';

await serve({
  async open() {
    const { router, close } = mcpEndpoint(await loadDocument('openapi.yaml'));
    return { handlers, use: [router], close };
  },
});
