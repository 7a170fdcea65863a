package io.kamille.core.auth;

import io.kamille.core.setting.Problems;
import io.kamille.core.setting.WatchedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** A file that credentials are checked against. */
final class AuthFile<T> extends AuthSource<T> {

  private final WatchedFile file;

  AuthFile(Path file, Parser<T> parser) {
    super(file.toString(), parser);
    this.file = watched(file);
  }

  private static WatchedFile watched(Path file) {
    return new WatchedFile(file, LIMIT_BYTES, Files::newInputStream);
  }

  /**
   * Reads such a file once.
   *
   * @throws IOException if it is not right
   */
  static <T> T read(Path file, Parser<T> parser) throws IOException {
    return parser.parse(Objects.requireNonNull(watched(file).look()));
  }

  @Override
  void look() {
    try {
      byte[] content = file.look();
      if (content != null) {
        take(content);
      }
    } catch (IOException wrong) {
      keep(Problems.reason(wrong));
    }
  }
}
