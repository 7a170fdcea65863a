package io.kamille.core.auth;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Names and passwords.
 *
 * @param usersFile who may pass; null for everybody
 * @param realm what browsers show beside the question
 */
public record BasicAuthSettings(@Nullable Path usersFile, String realm) {

  public static final Setting<Path> USERS_FILE =
      Setting.of(
          "users-file",
          ValueTypes.file(),
          "A file of lines `NAME:HASH` as `htpasswd -B` writes it. Hashes are bcrypt (`$2a$`,"
              + " `$2b$`, `$2y$`, cost 4–16) or PBKDF2 (`$pbkdf2-sha256$`, `$pbkdf2-sha512$`)."
              + " Kamille reads a changed file within a second.");

  static final Section<BasicAuthSettings> SECTION =
      Section.of(
          BasicAuthSettings.class,
          USERS_FILE,
          Setting.of(
                  "realm",
                  ValueTypes.text(
                      "text",
                      "up to 64 characters of visible ASCII and spaces, without \" and \\",
                      text -> text.matches("[ -~&&[^\"\\\\]]{1,64}")),
                  "The name of the protected space.")
              .defaultsTo("restricted"));
}
