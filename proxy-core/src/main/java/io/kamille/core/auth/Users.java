package io.kamille.core.auth;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Who may pass, by a password each. Immutable; any thread.
 *
 * @param number another one for each reading of a file
 */
record Users(long number, Map<String, PasswordHash> byName, List<PasswordHash> all) {

  private static final AtomicLong NUMBERS = new AtomicLong();
  private static final int MOST_NAME_CHARACTERS = 255;

  /**
   * The users of a file.
   *
   * @throws IOException if a line is not right; the message names the line and never shows it
   */
  static Users parse(byte[] content) throws IOException {
    Map<String, PasswordHash> users = new HashMap<>();
    int number = 0;
    for (String line : new String(content, StandardCharsets.UTF_8).split("\n", -1)) {
      number++;
      String text = line.strip();
      if (text.isEmpty() || text.startsWith("#")) {
        continue;
      }
      int colon = text.indexOf(':');
      if (colon < 1 || colon > MOST_NAME_CHARACTERS) {
        throw wrong(number, "NAME:HASH");
      }
      PasswordHash hash = PasswordHash.parse(text.substring(colon + 1));
      if (hash == null) {
        throw wrong(number, "a bcrypt hash of cost 4–16 as htpasswd -B writes it, or PBKDF2");
      }
      if (users.putIfAbsent(text.substring(0, colon), hash) != null) {
        throw wrong(number, "each name once");
      }
    }
    if (users.isEmpty()) {
      throw wrong(number, "at least one user");
    }
    return new Users(NUMBERS.incrementAndGet(), Map.copyOf(users), List.copyOf(users.values()));
  }

  private static IOException wrong(int line, String expected) {
    return new IOException("line " + line + ": expected: " + expected);
  }

  boolean has(String name) {
    return byName.containsKey(name);
  }

  /**
   * Whether that is the user's password. A name that nobody has takes the time of one that somebody
   * has, always the same, so that the time tells no names.
   */
  boolean admits(String name, byte[] password) {
    PasswordHash hash = byName.get(name);
    PasswordHash other = all.get(Math.floorMod(name.hashCode(), all.size()));
    boolean isRight = Objects.requireNonNullElse(hash, other).matches(password);
    return hash != null && isRight;
  }
}
