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
/** One of several types, which the values of a member select. */
export type Tagged<T, Name, Values> = { [K in keyof T]: K extends Name ? Values : T[K] };
/** @see schemas/customer.yaml:11 */
export type NewCustomer = {
    /**
     * @format email
     * @maxLength 200
     */
    email: string;
    /**
     * @minLength 1
     * @maxLength 200
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    name: Text;
    /**
     * @minLength 8
     * @maxLength 100
     */
    password: string;
    /** @format date */
    birthday?: string | null;
};
/** @see schemas/customer.yaml:1 */
export type Customer<out V extends Sent = Received> = {
    /** @format uuid */
    id: string;
    /**
     * @format email
     * @maxLength 200
     */
    email: string;
    /**
     * @minLength 1
     * @maxLength 200
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    name: Text;
    /** @format date */
    birthday?: V['date'] | null;
    /** @format date-time */
    createdAt: V['date'];
};
/**
 * A text that PostgreSQL stores exactly, without U+0000 and lone surrogates.
 * @pattern ^[^\u0000\ud800-\udfff]*$
 * @see schemas/common.yaml:1
 */
export type Text = string;
/**
 * A JSON Merge Patch (RFC 7396). `null` removes the birthday.
 * @minProperties 1
 * @see schemas/customer.yaml:15
 */
export type CustomerPatch = {
    /**
     * @format email
     * @maxLength 200
     */
    email?: string;
    /**
     * @minLength 1
     * @maxLength 200
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    name?: Text;
    /** @format date */
    birthday?: string | null;
};
/**
 * Euros with two decimals, for one piece.
 * @pattern ^(0|[1-9][0-9]{0,5})\.[0-9]{2}$
 * @example 19.90
 * @see schemas/common.yaml:5
 */
export type Price = string;
/** @see schemas/product.yaml:14 */
export type ProductPage<out V extends Sent = Received> = {
    items: MaybeReadonly<Product<V>[], V>;
    /** The cursor of the next page. */
    next: string | null;
};
/** @see schemas/product.yaml:10 */
export type Product<out V extends Sent = Received> = {
    /**
     * The GTIN of the product.
     * @format int64
     * @minimum 1
     */
    id: Int64;
    /**
     * @minLength 1
     * @maxLength 200
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    name: Text;
    /** @pattern ^(0|[1-9][0-9]{0,5})\.[0-9]{2}$ */
    price: Price;
    /**
     * @minimum 0
     * @maximum 1000000
     */
    stock: number;
    /**
     * @maxItems 10
     * @uniqueItems true
     */
    tags: MaybeReadonly<Text[], V>;
};
/** @see schemas/product.yaml:1 */
export type NewProduct = {
    /**
     * The GTIN of the product.
     * @format int64
     * @minimum 1
     */
    id: Int64;
    /**
     * @minLength 1
     * @maxLength 200
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    name: Text;
    /** @pattern ^(0|[1-9][0-9]{0,5})\.[0-9]{2}$ */
    price: Price;
    /**
     * @minimum 0
     * @maximum 1000000
     */
    stock: number;
    /**
     * @maxItems 10
     * @uniqueItems true
     */
    tags?: Text[];
};
/** @see schemas/order.yaml:1 */
export type OrderStatus = "open" | "paid" | "cancelled";
/** @see schemas/order.yaml:29 */
export type OrderPage<out V extends Sent = Received> = {
    items: MaybeReadonly<Order<V>[], V>;
    next: string | null;
};
/** @see schemas/order.yaml:18 */
export type Order<out V extends Sent = Received> = {
    /**
     * @minItems 1
     * @maxItems 50
     */
    lines: MaybeReadonly<OrderLine[], V>;
    /**
     * @maxLength 500
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    note?: string | null;
    /** @format date */
    deliverOn?: V['date'];
    /** @format uuid */
    id: string;
    /** @format uuid */
    customerId: string;
    status: OrderStatus;
    /** @pattern ^(0|[1-9][0-9]{0,12})\.[0-9]{2}$ */
    total: Amount;
    /** @format date-time */
    placedAt: V['date'];
};
/** @see schemas/order.yaml:11 */
export type NewOrder = {
    /**
     * @minItems 1
     * @maxItems 50
     */
    lines: OrderLineWritable[];
    /**
     * @maxLength 500
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    note?: string | null;
    /** @format date */
    deliverOn?: string;
};
/** @see schemas/order.yaml:4 */
export type OrderLine = {
    /**
     * @format int64
     * @minimum 1
     */
    productId: Int64;
    /**
     * @minimum 1
     * @maximum 100
     */
    quantity: number;
    /** @pattern ^(0|[1-9][0-9]{0,5})\.[0-9]{2}$ */
    price?: Price;
};
/** @see schemas/order.yaml:4 */
export type OrderLineWritable = {
    /**
     * @format int64
     * @minimum 1
     */
    productId: Int64;
    /**
     * @minimum 1
     * @maximum 100
     */
    quantity: number;
};
/**
 * Euros with two decimals, summed over pieces and orders.
 * @pattern ^(0|[1-9][0-9]{0,12})\.[0-9]{2}$
 * @example 1980.50
 * @see schemas/common.yaml:10
 */
export type Amount = string;
/** @see schemas/order.yaml:35 */
export type OrderEvent = {
    id?: string;
    event: "status";
    data: string;
};
/** @see schemas/payment.yaml:1 */
export type PaymentMethod = Tagged<Card, "method", "card"> | Tagged<Transfer, "method", "transfer"> | Tagged<Voucher, "method", "voucher">;
/** @see schemas/payment.yaml:1 */
export type PaymentMethodWritable = Tagged<CardWritable, "method", "card"> | Tagged<Transfer, "method", "transfer"> | Tagged<Voucher, "method", "voucher">;
/** @see schemas/payment.yaml:12 */
export type Card = {
    method: string;
    /** @pattern ^[0-9]{4}$ */
    lastDigits?: string;
};
/** @see schemas/payment.yaml:12 */
export type CardWritable = {
    method: string;
    /**
     * @minLength 10
     * @maxLength 100
     */
    token: string;
};
/** @see schemas/payment.yaml:19 */
export type Transfer = {
    method: string;
    /**
     * @format iban
     * @example DE89370400440532013000
     */
    iban: string;
};
/** @see schemas/payment.yaml:25 */
export type Voucher = {
    method: string;
    /** @pattern ^[A-Z0-9]{8}$ */
    code: string;
};
/** @see schemas/payment.yaml:31 */
export type Payment = {
    /** @format uuid */
    id: string;
    /** @format uuid */
    orderId: string;
    /** @pattern ^(0|[1-9][0-9]{0,12})\.[0-9]{2}$ */
    amount: Amount;
    state: "pending" | "received";
    method: PaymentMethod;
};
/** @see schemas/payment.yaml:40 */
export type Notification = {
    /** @format uuid */
    paymentId: string;
    state: "received";
};
/** @see schemas/document.yaml:1 */
export type Upload = {
    /** @format binary */
    file: string;
    kind: Kind;
    /**
     * @maxLength 200
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    title?: Text;
};
/** @see schemas/document.yaml:8 */
export type Kind = "invoice" | "photo";
/** @see schemas/document.yaml:11 */
export type Document = {
    /** @format uuid */
    id: string;
    /** @format uuid */
    orderId: string;
    kind: Kind;
    title?: string;
    contentType: string;
    /** @minimum 0 */
    size: number;
};
/** @see schemas/report.yaml:1 */
export type NewReport = {
    /**
     * @format date
     * @pattern ^[1-9]
     */
    from: string;
    /**
     * @format date
     * @pattern ^[1-9]
     */
    to: string;
};
/** @see schemas/report.yaml:8 */
export type Report<out V extends Sent = Received> = {
    /** @format uuid */
    id: string;
    state: "running" | "done";
    /** @format date */
    from: V['date'];
    /** @format date */
    to: V['date'];
    /** @pattern ^(0|[1-9][0-9]{0,12})\.[0-9]{2}$ */
    revenue?: Amount;
};
/** @see schemas/problem.yaml:1 */
export type problem<out V extends Sent = Received> = {
    /**
     * `about:blank`, or one of the problems of this shop: `/problems/out-of-stock`, `/problems/email-taken`,
     * `/problems/product-exists`, `/problems/order-closed`, `/problems/key-reused`.
     * @format uri-reference
     */
    type: string;
    title: string;
    /**
     * @minimum 400
     * @maximum 599
     */
    status: number;
    detail?: string;
    errors?: MaybeReadonly<{
        path: string;
        message: string;
    }[], V>;
};
export interface paths {
    "/customers": {
        post: operations["createCustomer"];
    };
    "/customers/{customerId}": {
        get: operations["getCustomer"];
        delete: operations["deleteCustomer"];
        patch: operations["updateCustomer"];
    };
    "/products": {
        get: operations["listProducts"];
        post: operations["createProduct"];
    };
    "/products/{productId}": {
        get: operations["getProduct"];
    };
    "/orders": {
        get: operations["listOrders"];
        post: operations["createOrder"];
    };
    "/orders/{orderId}": {
        get: operations["getOrder"];
    };
    "/orders/{orderId}/cancel": {
        post: operations["cancelOrder"];
    };
    "/orders/{orderId}/events": {
        get: operations["watchOrder"];
    };
    "/orders/{orderId}/payments": {
        post: operations["payOrder"];
    };
    "/payment-notifications": {
        post: operations["notifyPayment"];
    };
    "/orders/{orderId}/documents": {
        post: operations["uploadDocument"];
    };
    "/documents/{documentId}": {
        get: operations["downloadDocument"];
    };
    "/reports": {
        post: operations["startReport"];
    };
    "/reports/{reportId}": {
        get: operations["getReport"];
    };
}
export interface components {
    schemas: {
        NewCustomer: NewCustomer;
        Customer: Customer;
        Text: Text;
        CustomerPatch: CustomerPatch;
        Price: Price;
        ProductPage: ProductPage;
        Product: Product;
        NewProduct: NewProduct;
        OrderStatus: OrderStatus;
        OrderPage: OrderPage;
        Order: Order;
        NewOrder: NewOrder;
        OrderLine: OrderLine;
        Amount: Amount;
        OrderEvent: OrderEvent;
        PaymentMethod: PaymentMethod;
        Card: Card;
        Transfer: Transfer;
        Voucher: Voucher;
        Payment: Payment;
        Notification: Notification;
        Upload: Upload;
        Kind: Kind;
        Document: Document;
        NewReport: NewReport;
        Report: Report;
        problem: problem;
    };
}
export interface operations<V extends Sent = Received> {
    /** @see paths/customers.yaml:2 */
    createCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewCustomer;
            };
        };
        responses: {
            /** The new customer. */
            201: {
                headers: {
                    /** @pattern ^"[0-9]{1,15}"$ */
                    ETag: string;
                    /** @format uri-reference */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Customer<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/customers.yaml:20 */
    getCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                customerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The customer. */
            200: {
                headers: {
                    /** @pattern ^"[0-9]{1,15}"$ */
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Customer<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/customers.yaml:46 */
    deleteCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                customerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The customer is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/customers.yaml:30 */
    updateCustomer: {
        parameters: {
            query?: never;
            header: {
                /**
                 * The ETag of the version to change.
                 * @pattern ^"[0-9]{1,15}"$
                 */
                "If-Match": string;
            };
            path: {
                /** @format uuid */
                customerId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/merge-patch+json": CustomerPatch;
            };
        };
        responses: {
            /** The changed customer. */
            200: {
                headers: {
                    /** @pattern ^"[0-9]{1,15}"$ */
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Customer<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /**
     * Public.
     * @see paths/products.yaml:2
     */
    listProducts: {
        parameters: {
            query?: {
                /**
                 * Products with all of these tags.
                 * @maxItems 5
                 */
                tags?: Text[];
                price?: {
                    /** @pattern ^(0|[1-9][0-9]{0,5})\.[0-9]{2}$ */
                    min?: Price;
                    /** @pattern ^(0|[1-9][0-9]{0,5})\.[0-9]{2}$ */
                    max?: Price;
                };
                /**
                 * The `next` of the previous page.
                 * @maxLength 200
                 */
                cursor?: string;
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
            /** A page of products. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ProductPage<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/products.yaml:29 */
    createProduct: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewProduct;
            };
        };
        responses: {
            /** The new product. */
            201: {
                headers: {
                    /** @format uri-reference */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Product<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/products.yaml:48 */
    getProduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @format int64
                 * @minimum 1
                 */
                productId: Int64;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The product. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Product<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/orders.yaml:2 */
    listOrders: {
        parameters: {
            query?: {
                status?: OrderStatus;
                /**
                 * The `next` of the previous page.
                 * @maxLength 200
                 */
                cursor?: string;
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
            /** A page of the customer's orders, the latest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": OrderPage<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/orders.yaml:14 */
    createOrder: {
        parameters: {
            query?: never;
            header: {
                /**
                 * A repeated request with the same key gets the same order.
                 * @minLength 1
                 * @maxLength 100
                 */
                "Idempotency-Key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewOrder;
            };
        };
        responses: {
            /** The new order. */
            201: {
                headers: {
                    /** @format uri-reference */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Order<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/orders.yaml:41 */
    getOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                orderId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Order<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/orders.yaml:52 */
    cancelOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                orderId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The cancelled order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Order<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/orders.yaml:64 */
    watchOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                orderId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The current status, and each change. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": AsyncIterable<{
                        id?: string;
                        event: "status";
                        data: {
                            status: OrderStatus;
                            /** @format date-time */
                            at: V['date'];
                        };
                    }>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/payments.yaml:4 */
    payOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                orderId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": PaymentMethodWritable;
            };
        };
        responses: {
            /** The payment. The provider notifies the shop when the money has arrived. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Payment;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /**
     * Called by the payment provider.
     * @see paths/payments.yaml:17
     */
    notifyPayment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Notification;
            };
        };
        responses: {
            /** The notification is stored. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/documents.yaml:4 */
    uploadDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                orderId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** @format binary */
                    file: File;
                    kind: Kind;
                    /**
                     * @maxLength 200
                     * @pattern ^[^\u0000\ud800-\udfff]*$
                     */
                    title?: Text;
                };
            };
        };
        responses: {
            /** The stored document. */
            201: {
                headers: {
                    /** @format uri-reference */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Document;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/documents.yaml:28 */
    downloadDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                documentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The file. */
            200: {
                headers: {
                    "Content-Disposition": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": unknown;
                    "image/png": unknown;
                    "image/jpeg": unknown;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/reports.yaml:2 */
    startReport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewReport;
            };
        };
        responses: {
            /** The report is being created. */
            202: {
                headers: {
                    /** @format uri-reference */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Report<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
    /** @see paths/reports.yaml:21 */
    getReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @format uuid */
                reportId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The report. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Report<V>;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem<V>;
                };
            };
        };
    };
}
export interface webhooks {}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    createCustomer: "customer";
    getCustomer: "customer";
    deleteCustomer: "customer";
    updateCustomer: "customer";
    listProducts: undefined;
    createProduct: "customer";
    getProduct: undefined;
    listOrders: "customer";
    createOrder: "customer";
    getOrder: "customer";
    cancelOrder: "customer";
    watchOrder: "customer";
    payOrder: "customer";
    notifyPayment: "paymentProvider";
    uploadDocument: "customer";
    downloadDocument: "customer";
    startReport: "customer";
    getReport: "customer";
}
/** Optional parameters with a default. The server fills it in. */
export interface defaults {
    listProducts: {
        query: "limit";
    };
    listOrders: {
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
