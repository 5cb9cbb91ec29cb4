/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/** The form of values in requests: dates are strings. */
export type Received = { date: string; list: never };
/** The form of values in replies: also dates as objects, and readonly lists. */
export type Sent = { date: string | DateLike; list: unknown };
/** A Date, a Temporal value, or another object that JSON writes as a string. */
export interface DateLike { toJSON(): string }
/** A list or tuple that may be readonly if it is sent. */
export type MaybeReadonly<T extends readonly unknown[], V extends Sent> =
    T | (Readonly<T> & V['list']);
/** @see openapi.yaml:40 */
export type Note = {
    /** @format uuid */
    id?: string;
    /**
     * @minLength 1
     * @maxLength 1000
     */
    text: string;
};
/** @see openapi.yaml:40 */
export type NoteWritable = {
    /**
     * @minLength 1
     * @maxLength 1000
     */
    text: string;
};
export interface paths {
    "/notes": {
        get: operations["listNotes"];
        post: operations["addNote"];
    };
    "/notes/export": {
        get: operations["exportNotes"];
    };
}
export interface components {
    schemas: {
        Note: Note;
    };
}
export interface operations<V extends Sent = Received> {
    /**
     * List the notes of the caller.
     * @see openapi.yaml:6
     */
    listNotes: {
        parameters: {
            query?: {
                /**
                 * @minimum 1
                 * @maximum 100
                 * @default 20
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The notes of the caller, the latest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Note[] | (readonly Note[] & V['list']);
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
            /** The note is added. */
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
            /** The texts of the notes, each in a line. */
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
export interface webhooks {}
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
    operations: operations<Sent>;
    security: security;
    defaults: defaults;
}
/**
 * A handler for each operation. Handlers<typeof verifiers> sets the type of callers, and
 * Handlers<typeof verifiers, { tx: Transaction }> a member of requests that `around` adds.
 */
export type Handlers<V extends Verifiers = {}, M extends object = {}> =
    HandlersOf<contract, V, M>;
/** Middleware around all handlers. It adds the members M to requests: next({ tx }). */
export type Around<V extends Verifiers = {}, M extends object = {}> = AroundOf<contract, V, M>;
/** The validated request that a handler gets. */
export type RequestTo<
    Id extends keyof operations,
    V extends Verifiers = {},
    M extends object = {},
> = RequestOf<contract, Id, V, M>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<contract['operations'][Id]>;
