export { openapiPage, type PageOptions } from './page.ts';
