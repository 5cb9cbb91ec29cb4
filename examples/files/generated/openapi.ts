/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

export interface components {
    schemas: {
        Kept: {
            /** Format: uuid */
            id: string;
            title: string;
            bytes: number;
        };
    };
}
export interface operations {
    uploadFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    title: string;
                    /** Format: binary */
                    file: File;
                };
            };
        };
        responses: {
            /** @description The file is kept. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Kept"];
                };
            };
        };
    };
    downloadFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes of the file. */
            200: {
                headers: {
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description There is no such file. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    replaceFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description The bytes are replaced. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description There is no such file. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
export interface webhooks {
}
export type Kept = components["schemas"]["Kept"];
/** Whether an operation needs credentials. */
export interface security {
    uploadFile: "none";
    downloadFile: "none";
    replaceFile: "none";
}
/** Optional parameters that are always present, because they have a default. */
export interface defaults {
}
interface contract {
    operations: operations;
    security: security;
    defaults: defaults;
}
/** A handler for each operation. */
export type Handlers = HandlersOf<contract>;
/** The validated request that a handler gets. */
export type RequestTo<Id extends keyof operations> = RequestOf<contract, Id>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<operations[Id]>;
