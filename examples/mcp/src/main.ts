import { serve } from 'spec-first-server';
import { mcpHandler } from 'spec-first-server/mcp';
import { handlers } from './handlers.ts';

await serve({ open: { handlers, use: (service) => [mcpHandler(service)] } });
