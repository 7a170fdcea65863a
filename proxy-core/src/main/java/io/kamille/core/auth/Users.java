package io.kamille.core.auth;

import io.kamille.core.http.Octets;
import io.kamille.core.setting.SmallFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/** Who may pass, by a password each. Immutable; any thread. */
record Users(Map<String, PasswordHash> byName, List<PasswordHash> all) {

  private static final int MOST_NAME_CHARACTERS = 255;

  /** Of many wrong lines the message has the first ones. */
  private static final int TOLD = 10;

  /**
   * The users of a file.
   *
   * @throws IOException if lines are not right; the message names them and never shows them
   */
  static Users parse(byte[] content) throws IOException {
    List<String> wrong = new ArrayList<>();
    Users users =
        parse(content, (expected, i) -> wrong.add("line " + i + ": expected: " + expected));
    if (!wrong.isEmpty()) {
      String told = String.join("; ", wrong.subList(0, Math.min(wrong.size(), TOLD)));
      int more = wrong.size() - TOLD;
      throw new IOException(more > 0 ? told + "; and " + more + " more lines" : told);
    }
    return users;
  }

  /**
   * The same.
   *
   * @param wrong takes what was expected in each line that is not right, and its number
   * @throws IOException if nobody is named
   */
  static Users parse(byte[] content, ObjIntConsumer<String> wrong) throws IOException {
    Map<String, PasswordHash> users = new HashMap<>();
    boolean isRight = true;
    String[] lines = SmallFile.text(content).split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      String expected = read(lines[i].strip(), users);
      if (expected != null) {
        wrong.accept(expected, i + 1);
        isRight = false;
      }
    }
    if (users.isEmpty() && isRight) {
      throw new IOException("expected: at least one user");
    }
    return new Users(Map.copyOf(users), List.copyOf(users.values()));
  }

  /** Takes the user of a line over; what was expected if it is not right. */
  private static @Nullable String read(String line, Map<String, PasswordHash> users) {
    if (line.isEmpty() || line.startsWith("#")) {
      return null;
    }
    int colon = line.indexOf(':');
    if (colon < 1 || colon > MOST_NAME_CHARACTERS || isBlank(line.charAt(colon - 1))) {
      return "NAME:HASH";
    }
    PasswordHash hash = PasswordHash.parse(line.substring(colon + 1));
    if (hash == null) {
      return "a bcrypt hash of cost 4–16 as htpasswd -B writes it, or PBKDF2";
    }
    return users.putIfAbsent(line.substring(0, colon), hash) == null ? null : "each name once";
  }

  private static boolean isBlank(char last) {
    return Character.isWhitespace(last) || Character.isSpaceChar(last);
  }

  /**
   * A user and what the password of it was.
   *
   * @param hash as it stands in the file
   */
  record User(String name, String hash) {}

  /** Whether that user has still that password. */
  boolean has(User user) {
    PasswordHash now = byName.get(user.name());
    return now != null && now.text().equals(user.hash());
  }

  /** The name before the password in base64; empty if there is none. */
  static String name(String given) {
    byte[] pair = pair(given);
    return new String(pair, 0, Math.max(0, colon(pair)), StandardCharsets.UTF_8);
  }

  /** Who that is, by the base64 of a name, a colon and the password; null if it is nobody. */
  @Nullable User find(String given) {
    byte[] pair = pair(given);
    int colon = colon(pair);
    if (colon <= 0) {
      return null;
    }
    String name = new String(pair, 0, colon, StandardCharsets.UTF_8);
    return admits(name, Arrays.copyOfRange(pair, colon + 1, pair.length))
        ? new User(name, Objects.requireNonNull(byName.get(name)).text())
        : null;
  }

  private static byte[] pair(String given) {
    try {
      return Base64.getDecoder().decode(given);
    } catch (IllegalArgumentException noBase64) {
      return new byte[0];
    }
  }

  /** RFC 7617 §2 allows no NUL, and bcrypt ends at one. */
  private static int colon(byte[] pair) {
    String text = Octets.text(pair, 0, pair.length);
    return text.indexOf('\0') < 0 ? text.indexOf(':') : -1;
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
