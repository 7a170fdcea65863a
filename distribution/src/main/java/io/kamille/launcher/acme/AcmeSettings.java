package io.kamille.launcher.acme;

import io.kamille.admin.StateDirectory;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.SmallFile;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Whom certificates are ordered from, and how.
 *
 * @param termsAgreed whether the operator agrees to the terms of the authority
 * @param directory where the authority says what it can do (RFC 8555 §7.1.1)
 * @param authority the certificate, as PEM, that the authority's own is signed by; null for the
 *     system's
 * @param contact an address of mail; null for none
 * @param binding to an account elsewhere (RFC 8555 §7.3.4)
 * @param dnsHook the words of a program that publishes TXT records; empty for none
 * @param store where keys and certificates lie
 */
public record AcmeSettings(
    boolean termsAgreed,
    URI directory,
    @Nullable Path authority,
    @Nullable String contact,
    Binding binding,
    List<String> dnsHook,
    Path store) {

  private static final URI LETS_ENCRYPT =
      URI.create("https://acme-v02.api.letsencrypt.org/directory");
  private static final URI STAGING =
      URI.create("https://acme-staging-v02.api.letsencrypt.org/directory");

  /**
   * An account that the authority knows already.
   *
   * @param id its key identifier; null for none
   * @param keyFile holds its MAC key as base64url
   */
  public record Binding(@Nullable String id, @Nullable Path keyFile) {

    public static final Setting<String> ID =
        Setting.of(
                "id",
                ValueTypes.text("text", "a key identifier", text -> !text.isBlank()),
                "The key identifier that the authority has given.")
            .orElse("no binding");

    public static final Setting<Path> KEY_FILE =
        Setting.of(
                "key-file", ValueTypes.file(), "The file with its MAC key, as base64url in a line.")
            .orElse("no binding");

    static final Section<Binding> SECTION = Section.of(Binding.class, ID, KEY_FILE);

    private static final int MOST_OCTETS = 8 * 1024;

    /**
     * The MAC key.
     *
     * @throws IOException with one sentence: what is wrong with the file
     */
    public static String key(Path file) throws IOException {
      try {
        String key = SmallFile.text(file, MOST_OCTETS).strip();
        if (!key.matches("[A-Za-z0-9_-]+=*")) {
          throw new IOException("expected: a key as base64url in a line");
        }
        return key;
      } catch (IOException refused) {
        throw new IOException(file + ": " + Problems.reason(refused), refused);
      }
    }
  }

  public static final Setting<Boolean> TERMS_AGREED =
      Setting.of(
              "terms-agreed",
              ValueTypes.onOff(),
              "Whether you agree to the terms of the authority. It issues nothing before.")
          .defaultsTo(false);

  public static final Setting<URI> DIRECTORY =
      Setting.of(
              "directory",
              new ValueType<>(
                  "URL", "", "staging, or https://HOST/PATH", AcmeSettings::url, URI::toString),
              "The directory of the authority. `staging` is Let's Encrypt's for tests.")
          .defaultsTo("Let's Encrypt", _ -> LETS_ENCRYPT)
          .appliesOnRestart();

  public static final Setting<Path> AUTHORITY =
      Setting.of(
              "authority",
              ValueTypes.file(),
              "The certificates, as PEM, of who signs the directory's own.")
          .orElse("those that the system trusts");

  public static final Subsection<Binding> ACCOUNT_BINDING =
      Binding.SECTION.one(
          "account-binding",
          "An account that you have with the authority already (RFC 8555 §7.3.4).");

  private static final ValueType<List<String>> WORDS =
      ValueTypes.list("list of words", text -> !text.isEmpty(), "a program and its words");

  public static final Setting<List<String>> DNS_HOOK =
      Setting.of(
              "dns-hook",
              WORDS.located(AcmeSettings::hook),
              "The program that publishes a record: with it, all names but IP addresses are proved"
                  + " by `dns-01`. It is started with `present NAME VALUE`, returns once the TXT"
                  + " record is visible, and with `cleanup NAME VALUE` afterwards.")
          .orElse("no `dns-01`", List.of());

  /** A program without a slash is one of the search path. */
  private static @Nullable List<String> hook(String text, Path directory) {
    List<String> words = WORDS.parse(text);
    if (words == null || words.isEmpty() || words.getFirst().indexOf('/') < 0) {
      return words;
    }
    List<String> located = new ArrayList<>(words);
    located.set(0, directory.resolve(words.getFirst()).toString());
    return List.copyOf(located);
  }

  /** The settings under {@code acme}. */
  public static final Section<AcmeSettings> SECTION =
      Section.of(
          AcmeSettings.class,
          TERMS_AGREED,
          DIRECTORY,
          AUTHORITY,
          Setting.of(
                  "contact",
                  ValueTypes.text("address", "an address of mail", text -> text.contains("@")),
                  "Where the authority may write to.")
              .orElse("none"),
          ACCOUNT_BINDING,
          DNS_HOOK,
          Row.derived(_ -> place()));

  /** Where keys and certificates lie. */
  public static Path place() {
    return StateDirectory.path().resolve("acme");
  }

  private static @Nullable URI url(String text) {
    if (text.equals("staging")) {
      return STAGING;
    }
    try {
      URI url = new URI(text);
      return "https".equals(url.getScheme()) && url.getHost() != null ? url : null;
    } catch (URISyntaxException none) {
      return null;
    }
  }

  /** Whether it is an authority that everybody trusts, which knows public names alone. */
  public static boolean isPublic(URI directory) {
    return directory.equals(LETS_ENCRYPT) || directory.equals(STAGING);
  }

  /** The same at the authority's place for tests, if we know one. */
  AcmeSettings forTests() {
    return directory.equals(LETS_ENCRYPT)
        ? new AcmeSettings(termsAgreed, STAGING, authority, contact, binding, dnsHook, store)
        : this;
  }

  /** Whether other nodes may order by the same store: it is a link to theirs, or mounted. */
  boolean isStoreShared() {
    try {
      return Files.isSymbolicLink(store)
          || !Files.getFileStore(store).equals(Files.getFileStore(store.resolveSibling("")));
    } catch (IOException absent) {
      return false;
    }
  }

  /** The place of all that belongs to this authority: its host and port. */
  Path home() {
    return store.resolve(directory.getRawAuthority().replace(':', '_').toLowerCase(Locale.ROOT));
  }
}
