package io.kamille.perf.wan;

/**
 * A link between the server and the clients that bind to its addresses.
 *
 * @param name for reports
 * @param down from the server to clients
 * @param up from clients to the server
 */
public record LinkSettings(String name, PathSettings down, PathSettings up) {

  /** A link that does the same to both directions. */
  public static LinkSettings symmetric(String name, String settings) {
    PathSettings both = PathSettings.NONE.with(settings);
    return new LinkSettings(name, both, both);
  }
}
