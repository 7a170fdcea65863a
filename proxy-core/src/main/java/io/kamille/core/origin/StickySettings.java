package io.kamille.core.origin;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.SmallFile;
import io.kamille.core.setting.ValueTypes;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How clients come back to the origin that they had.
 *
 * @param cookie the name of the cookie that says which; null if they do not
 * @param secretFile what the cookie is signed with; null for a secret of the cluster
 */
public record StickySettings(@Nullable String cookie, @Nullable Path secretFile) {

  private static final int LEAST_BYTES = 16;
  private static final int MOST_BYTES = 4_096;

  public static final Setting<String> COOKIE =
      Setting.of(
              "cookie",
              ValueTypes.token(),
              "The name of the cookie. A client that shows it gets the same origin while that one"
                  + " is in, and else another one with a new cookie.")
          .orElse("clients are not bound to origins");

  public static final Setting<Path> SECRET_FILE =
      Setting.of(
              "secret-file",
              ValueTypes.file(),
              "A file of at least 16 bytes that the cookie is signed with. Give all proxies the"
                  + " same one.")
          .orElse("a secret of the cluster; without one, no cookie");

  public static final Section<StickySettings> SECTION =
      Section.of(StickySettings.class, COOKIE, SECRET_FILE);

  /**
   * What is in such a file.
   *
   * @throws IOException if it cannot be read, or is too short or too long
   */
  public static byte[] read(Path file) throws IOException {
    byte[] secret = SmallFile.read(file, MOST_BYTES);
    if (secret.length < LEAST_BYTES) {
      throw new IOException("less than " + LEAST_BYTES + " bytes");
    }
    return secret;
  }
}
