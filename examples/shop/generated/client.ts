/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import { type Client, type ClientOptions, clientOf, type Route } from 'openapi-document/client';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/** The form of values in responses. */
export type Received = { date: string; list: never };
/** The form of values in requests: also readonly lists. */
export type Sent = { date: string; list: unknown };
/** A list or tuple that may be readonly if it is sent. */
export type MaybeReadonly<T extends readonly unknown[], V extends Sent> =
    T | (Readonly<T> & V['list']);
/** One of several types, which the values of a member select. */
export type Tagged<T, Name, Values> = { [K in keyof T]: K extends Name ? Values : T[K] };
/** @see schemas/customer.yaml:11 */
export type NewCustomer<out V extends Sent = Received> = {
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
    birthday?: V['date'] | null;
};
/** @see schemas/customer.yaml:1 */
export type Customer = {
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
    birthday?: string | null;
    /** @format date-time */
    createdAt: string;
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
export type CustomerPatch<out V extends Sent = Received> = {
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
    birthday?: V['date'] | null;
};
/**
 * Euros with two decimals, for one piece.
 * @pattern ^(0|[1-9][0-9]{0,5})\.[0-9]{2}$
 * @example 19.90
 * @see schemas/common.yaml:5
 */
export type Price = string;
/** @see schemas/product.yaml:14 */
export type ProductPage = {
    items: Product[];
    /** The cursor of the next page. */
    next: string | null;
};
/** @see schemas/product.yaml:10 */
export type Product = {
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
    tags: Text[];
};
/** @see schemas/product.yaml:1 */
export type NewProduct<out V extends Sent = Received> = {
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
    tags?: MaybeReadonly<Text[], V>;
};
/** @see schemas/order.yaml:1 */
export type OrderStatus = "open" | "paid" | "cancelled";
/** @see schemas/order.yaml:29 */
export type OrderPage = {
    items: Order[];
    next: string | null;
};
/** @see schemas/order.yaml:18 */
export type Order = {
    /**
     * @minItems 1
     * @maxItems 50
     */
    lines: OrderLine[];
    /**
     * @maxLength 500
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    note?: string | null;
    /** @format date */
    deliverOn?: string;
    /** @format uuid */
    id: string;
    /** @format uuid */
    customerId: string;
    status: OrderStatus;
    /** @pattern ^(0|[1-9][0-9]{0,12})\.[0-9]{2}$ */
    total: Amount;
    /** @format date-time */
    placedAt: string;
};
/** @see schemas/order.yaml:11 */
export type NewOrder<out V extends Sent = Received> = {
    /**
     * @minItems 1
     * @maxItems 50
     */
    lines: MaybeReadonly<OrderLineWritable[], V>;
    /**
     * @maxLength 500
     * @pattern ^[^\u0000\ud800-\udfff]*$
     */
    note?: string | null;
    /** @format date */
    deliverOn?: V['date'];
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
export type NewReport<out V extends Sent = Received> = {
    /**
     * @format date
     * @pattern ^[1-9]
     */
    from: V['date'];
    /**
     * @format date
     * @pattern ^[1-9]
     */
    to: V['date'];
};
/** @see schemas/report.yaml:8 */
export type Report = {
    /** @format uuid */
    id: string;
    state: "running" | "done";
    /** @format date */
    from: string;
    /** @format date */
    to: string;
    /** @pattern ^(0|[1-9][0-9]{0,12})\.[0-9]{2}$ */
    revenue?: Amount;
};
/** @see schemas/problem.yaml:1 */
export type problem = {
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
    errors?: {
        path: string;
        message: string;
    }[];
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
export interface operations {
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
                "application/json": NewCustomer<Sent>;
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
                    "application/json": Customer;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                    "application/json": Customer;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                    "application/problem+json": problem;
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
                "application/merge-patch+json": CustomerPatch<Sent>;
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
                    "application/json": Customer;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                tags?: readonly Text[];
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
                    "application/json": ProductPage;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                "application/json": NewProduct<Sent>;
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
                    "application/json": Product;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                    "application/json": Product;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                    "application/json": OrderPage;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                "application/json": NewOrder<Sent>;
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
                    "application/json": Order;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                    "application/json": Order;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                    "application/json": Order;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                            at: string;
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
                    "application/problem+json": problem;
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
                    "application/problem+json": problem;
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
                    "application/problem+json": problem;
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
                    "application/problem+json": problem;
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
                    "application/problem+json": problem;
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
                "application/json": NewReport<Sent>;
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
                    "application/json": Report;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
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
                    "application/json": Report;
                };
            };
            /** The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
}
export interface webhooks {}

const routes: { readonly [Id in keyof operations]: Route } = {
  "createCustomer": {
    "method": "POST",
    "path": "/customers",
    "parameters": [],
    "media": [
      {
        "type": "application/json"
      }
    ],
    "responses": []
  },
  "getCustomer": {
    "method": "GET",
    "path": "/customers/{customerId}",
    "parameters": [
      {
        "in": "path",
        "name": "customerId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "responses": []
  },
  "deleteCustomer": {
    "method": "DELETE",
    "path": "/customers/{customerId}",
    "parameters": [
      {
        "in": "path",
        "name": "customerId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "responses": []
  },
  "updateCustomer": {
    "method": "PATCH",
    "path": "/customers/{customerId}",
    "parameters": [
      {
        "in": "path",
        "name": "customerId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "header",
        "name": "If-Match",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false,
        "mustBeSent": true
      }
    ],
    "media": [
      {
        "type": "application/merge-patch+json"
      }
    ],
    "responses": []
  },
  "listProducts": {
    "method": "GET",
    "path": "/products",
    "parameters": [
      {
        "in": "query",
        "name": "tags",
        "style": "form",
        "explode": false,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "price",
        "style": "deepObject",
        "explode": false,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "cursor",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "limit",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false,
        "mustBeSent": true
      }
    ],
    "media": [],
    "responses": [],
    "int64": true
  },
  "createProduct": {
    "method": "POST",
    "path": "/products",
    "parameters": [],
    "media": [
      {
        "type": "application/json"
      }
    ],
    "responses": [],
    "int64": true
  },
  "getProduct": {
    "method": "GET",
    "path": "/products/{productId}",
    "parameters": [
      {
        "in": "path",
        "name": "productId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "responses": [],
    "int64": true
  },
  "listOrders": {
    "method": "GET",
    "path": "/orders",
    "parameters": [
      {
        "in": "query",
        "name": "status",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "cursor",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "limit",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false,
        "mustBeSent": true
      }
    ],
    "media": [],
    "responses": [],
    "int64": true
  },
  "createOrder": {
    "method": "POST",
    "path": "/orders",
    "parameters": [
      {
        "in": "header",
        "name": "Idempotency-Key",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false,
        "mustBeSent": true
      }
    ],
    "media": [
      {
        "type": "application/json"
      }
    ],
    "responses": [],
    "int64": true
  },
  "getOrder": {
    "method": "GET",
    "path": "/orders/{orderId}",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "responses": [],
    "int64": true
  },
  "cancelOrder": {
    "method": "POST",
    "path": "/orders/{orderId}/cancel",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "responses": [],
    "int64": true
  },
  "watchOrder": {
    "method": "GET",
    "path": "/orders/{orderId}/events",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "responses": [
      {
        "key": "200",
        "media": [
          {
            "type": "text/event-stream",
            "items": {
              "data": "json"
            }
          }
        ]
      },
      {
        "key": "default",
        "media": [
          {
            "type": "application/problem+json"
          }
        ]
      }
    ],
    "int64": true
  },
  "payOrder": {
    "method": "POST",
    "path": "/orders/{orderId}/payments",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [
      {
        "type": "application/json"
      }
    ],
    "responses": []
  },
  "notifyPayment": {
    "method": "POST",
    "path": "/payment-notifications",
    "parameters": [],
    "media": [
      {
        "type": "application/json"
      }
    ],
    "responses": []
  },
  "uploadDocument": {
    "method": "POST",
    "path": "/orders/{orderId}/documents",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [
      {
        "type": "multipart/form-data",
        "encoding": {
          "file": {
            "contentType": "application/pdf, image/png, image/jpeg"
          }
        }
      }
    ],
    "responses": []
  },
  "downloadDocument": {
    "method": "GET",
    "path": "/documents/{documentId}",
    "parameters": [
      {
        "in": "path",
        "name": "documentId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "responses": [],
    "int64": true
  },
  "startReport": {
    "method": "POST",
    "path": "/reports",
    "parameters": [],
    "media": [
      {
        "type": "application/json"
      }
    ],
    "responses": []
  },
  "getReport": {
    "method": "GET",
    "path": "/reports/{reportId}",
    "parameters": [
      {
        "in": "path",
        "name": "reportId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "responses": []
  }
};

/** Makes a client of the service. */
export const createClient = (options: ClientOptions): Client<operations> =>
    clientOf<operations>(routes, options);
