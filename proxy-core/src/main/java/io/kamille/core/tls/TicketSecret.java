package io.kamille.core.tls;

/** What several machines know alike, that they make keys of session tickets from. Any thread. */
@FunctionalInterface
public interface TicketSecret {

  /** The key for that purpose, the same at each of them. */
  byte[] key(String purpose, int octets);
}
