package io.kamille.admin.auth;

/**
 * Who asks. Immutable.
 *
 * @param id of the token, or a word for identities without one
 * @param name a person gave it
 * @param via how it was proven
 * @param address the client's, or {@code local}
 * @param isRecentlyProven false for a session whose owner has shown no token lately
 */
public record Identity(
    String id, String name, Scope scope, Via via, String address, boolean isRecentlyProven) {

  private static final String FILE_ID = "file";
  private static final String LOCAL_ID = "local";

  /** How somebody proved who they are. */
  public enum Via {
    /** The token file. */
    FILE,
    /** A named token. */
    TOKEN,
    /** A browser's session. */
    SESSION,
    /** The local socket, which only this user and root can reach. */
    SOCKET
  }

  /** Who came by the local socket. */
  public static Identity local() {
    return new Identity(LOCAL_ID, "local socket", Scope.ADMIN, Via.SOCKET, "local", true);
  }

  /** Who has the token file. */
  static Identity ofFile(String address) {
    return new Identity(FILE_ID, "token file", Scope.ADMIN, Via.FILE, address, true);
  }

  /** Whether it stands and falls with a named token. */
  boolean isOfNamedToken() {
    return !id.equals(FILE_ID) && !id.equals(LOCAL_ID);
  }
}
