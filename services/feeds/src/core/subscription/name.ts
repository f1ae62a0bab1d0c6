/** The name of a subscription: one token of a NATS subject, and one part of an address. */
const namePattern = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export const isSubscriptionName = (text: string): boolean => namePattern.test(text);
