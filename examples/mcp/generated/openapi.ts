/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/**
 * @see openapi.yaml:40
 */
export type Note = {
    /** Format: uuid */
    id?: string;
    text: string;
};
/**
 * @see openapi.yaml:40
 */
export type NoteWritable = {
    text: string;
};
export interface components {
    schemas: {
        Note: Note;
        NoteWritable: NoteWritable;
    };
}
export interface operations {
    /**
     * List the notes of the caller.
     * @see openapi.yaml:6
     */
    listNotes: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The notes of the caller, the latest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Note[];
                };
            };
        };
    };
    /**
     * Add a note.
     * @see openapi.yaml:17
     */
    addNote: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NoteWritable;
            };
        };
        responses: {
            /** @description The note is added. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Note;
                };
            };
        };
    };
    /**
     * Export all notes of the caller. Without x-mcp, this is not a tool.
     * @see openapi.yaml:29
     */
    exportNotes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The texts of the notes, each in a line. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
}
export interface webhooks {
}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    listNotes: "token";
    addNote: "token";
    exportNotes: "token";
}
/** Optional parameters with a default. The server fills it in. */
export interface defaults {
    listNotes: {
        query: "limit";
    };
}
interface contract {
    operations: operations;
    security: security;
    defaults: defaults;
}
/** A handler for each operation. Handlers<typeof verifiers> sets the type of callers. */
export type Handlers<V extends Verifiers = {}> = HandlersOf<contract, V>;
/** Middleware around all handlers. */
export type Around<V extends Verifiers = {}> = AroundOf<contract, V>;
/** The validated request that a handler gets. */
export type RequestTo<Id extends keyof operations, V extends Verifiers = {}> =
    RequestOf<contract, Id, V>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<operations[Id]>;
