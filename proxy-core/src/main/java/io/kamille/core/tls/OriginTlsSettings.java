package io.kamille.core.tls;

import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * TLS toward the {@code https} origins of an upstream.
 *
 * @param ca who may have signed their certificates; empty for the authorities of the system
 * @param name what their certificates must be for; null for the host of each origin
 * @param certificate what we show them if they ask; null for nothing
 * @param key belongs to it
 * @param verify whether certificates are looked at
 */
public record OriginTlsSettings(
    Optional<Path> ca,
    @Nullable String name,
    @Nullable Path certificate,
    @Nullable Path key,
    boolean verify) {

  public static final Setting<Optional<Path>> CA =
      Setting.of(
              "ca",
              ValueTypes.orWord("system", ValueTypes.file()),
              "The certificates, as PEM, of those who sign the origins' certificates. `system`"
                  + " stands for the authorities that the system trusts.")
          .defaultsTo(Optional.empty());

  public static final Setting<String> NAME =
      Setting.of(
              "name",
              new ValueType<>(
                  "host",
                  "",
                  "a host such as origin.example.org",
                  OriginTlsSettings::hostOf,
                  host -> host),
              "The server name that origins are asked for (SNI), and that their certificates must"
                  + " be for.")
          .orElse("the host of each origin's URL");

  public static final Setting<Path> CERTIFICATE =
      Setting.of(
              "certificate",
              ValueTypes.file(),
              "The certificate and those above it, as PEM, that we show to an origin that asks for"
                  + " one.")
          .orElse("We have none.");

  public static final Setting<Path> KEY =
      Setting.of(
              "key",
              ValueTypes.file(),
              "Its private key, as PEM without a password. Others may not have the right to read"
                  + " it.")
          .orElse("We have none.");

  public static final Setting<Boolean> VERIFY =
      Setting.of(
              "verify",
              ValueTypes.onOff(),
              "Whether an origin's certificate must be valid. Without that, whoever sits on the way"
                  + " can read and change everything.")
          .defaultsTo(true);

  public static final Section<OriginTlsSettings> SECTION =
      Section.of(OriginTlsSettings.class, CA, NAME, CERTIFICATE, KEY, VERIFY);

  /** Verified by the authorities of the system. */
  public static final OriginTlsSettings DEFAULTS = SECTION.defaults();

  private static @Nullable String hostOf(String text) {
    String host = text.toLowerCase(Locale.ROOT);
    return host.isEmpty() ? null : HostPort.hostOf(host);
  }

  /**
   * Reads the files.
   *
   * @throws IOException with one sentence: which file, what is wrong with it
   */
  public OriginTrust read() throws IOException {
    return new OriginTrust(authorities(), own());
  }

  /**
   * Who may have signed the origins' certificates; nobody if they are not verified.
   *
   * @throws IOException with one sentence: which file, what is wrong with it
   */
  public List<X509Certificate> authorities() throws IOException {
    if (!verify) {
      return List.of();
    }
    return ca.isPresent() ? PemFile.certificates(ca.get()) : SystemAuthorities.read();
  }

  /**
   * What an origin is shown that asks.
   *
   * @throws IOException with one sentence: which file, what is wrong with it
   */
  public @Nullable ServerCertificate own() throws IOException {
    return certificate == null || key == null ? null : ServerCertificate.read(certificate, key);
  }
}
