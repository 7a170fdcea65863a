package io.kamille.core.tls;

import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import io.kamille.core.setting.WatchedFiles;
import io.kamille.core.tls.ClientCertificates.Demand;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * TLS of one listener.
 *
 * @param source where its certificates come from
 * @param certificates the first is for clients that name no server
 * @param names that certificates are ordered for; empty for the hosts of the routes
 * @param profile which versions are offered
 * @param clientCertificates whether clients are asked for one
 * @param clientAuthorities who signs those
 * @param hsts how long clients keep to HTTPS (RFC 6797); zero if they are not told to
 */
public record TlsSettings(
    Source source,
    List<CertificateFiles> certificates,
    List<String> names,
    TlsProfile profile,
    Demand clientCertificates,
    @Nullable Path clientAuthorities,
    Duration hsts) {

  /** Where certificates come from. */
  public enum Source {
    OFF,
    FILES,
    SELF_SIGNED,
    ACME
  }

  /**
   * A certificate chain and its key, as PEM files.
   *
   * @param chain the server's own certificate first
   * @param key not readable by everybody
   */
  public record CertificateFiles(Path chain, Path key) {

    public static final Setting<Path> CHAIN =
        Setting.of("chain", ValueTypes.file(), "The certificate and those above it, as PEM.");

    public static final Setting<Path> KEY =
        Setting.of(
            "key",
            ValueTypes.file(),
            "Its private key, as PEM without a password. Others may not have the right to read"
                + " it.");

    public static final Section<CertificateFiles> SECTION =
        Section.of(CertificateFiles.class, CHAIN, KEY);

    /**
     * Reads the files.
     *
     * @throws IOException with one sentence: which file, what is wrong with it
     */
    public ServerCertificate read() throws IOException {
      return ServerCertificate.read(chain, key);
    }
  }

  /** The certificates, of which the server name chooses one. */
  public static final Subsection<CertificateFiles> CERTIFICATES =
      CertificateFiles.SECTION.list(
          "certificates",
          "Certificates, chosen by the server name that a client asks for. The first is the"
              + " default. Two for the same names, one with an ECDSA key and one with an RSA key,"
              + " serve all clients. They are read again on reload, and when a file changes.");

  /** What a bare value stands for. */
  public static final Setting<Source> SOURCE =
      Setting.of(
              "source",
              ValueTypes.oneOf(Source.values()),
              "The source of certificates. `acme` orders them from an authority, besides those of"
                  + " `certificates`. `self-signed` makes one at start, to try Kamille: no client"
                  + " trusts it.")
          .defaultsTo("`files` if `certificates` has any, else `off`", TlsSettings::source)
          .appliesOnRestart();

  private static Source source(SectionValues values) {
    return values.all(CERTIFICATES).isEmpty() ? Source.OFF : Source.FILES;
  }

  /** The names that certificates are ordered for. */
  public static final Setting<List<String>> NAMES =
      Setting.of(
              "names",
              ValueTypes.list(
                  "list of names",
                  TlsSettings::nameOf,
                  name -> name.indexOf(':') < 0 ? name : "[" + name + "]",
                  "a host such as example.org, *.example.org in quotes, or an IP address"),
              "With `acme`: the names that certificates are ordered for, one for each.")
          .defaultsTo("the hosts of the routes, without patterns", _ -> List.of());

  /** A name as {@link ServerCertificate#names} has it; null if it is none. */
  public static @Nullable String nameOf(String text) {
    String wildcard = text.startsWith("*.") ? "*." : "";
    String bare = text.substring(wildcard.length());
    boolean isBareIpv6 = bare.indexOf(':') >= 0 && !bare.startsWith("[");
    String host = HostPort.hostOf(isBareIpv6 ? "[" + bare + "]" : bare);
    return host == null || host.isEmpty() ? null : wildcard + host;
  }

  private static final Setting<TlsProfile> PROFILE =
      Setting.of(
              "profile",
              ValueTypes.oneOf(TlsProfile.values()),
              "Which versions are offered: `intermediate` TLS 1.2 and 1.3, `modern` TLS 1.3"
                  + " alone. Cipher suites have forward secrecy and AEAD in both.")
          .defaultsTo(TlsProfile.INTERMEDIATE);

  private static final Setting<Demand> CLIENT_CERTIFICATES =
      Setting.of(
              "client-certificates",
              ValueTypes.oneOf(Demand.values()),
              "Whether clients are asked for a certificate, and may go without.")
          .defaultsTo(Demand.NONE);

  public static final Setting<Path> CLIENT_AUTHORITIES =
      Setting.of(
              "client-authorities",
              ValueTypes.file(),
              "The certificates, as PEM, of those who sign client certificates.")
          .orElse("No client certificate is accepted.");

  public static final Section<TlsSettings> SECTION =
      Section.of(
          TlsSettings.class,
          SOURCE,
          CERTIFICATES,
          NAMES,
          PROFILE,
          CLIENT_CERTIFICATES,
          CLIENT_AUTHORITIES,
          Setting.of(
                  "hsts",
                  ValueTypes.orWord(
                      "off",
                      Duration.ZERO,
                      ValueTypes.duration(Duration.ofSeconds(1), Duration.ofDays(3650))),
                  "How long browsers keep to HTTPS for this host (`Strict-Transport-Security`, RFC"
                      + " 6797). Every response of this listener says so.")
              .defaultsTo(Duration.ZERO)
              .appliesOnRestart());

  /** What the listener of the control plane has of it. */
  public static final Section<TlsSettings> ADMIN_SECTION =
      Section.of(
          TlsSettings.class,
          SOURCE,
          CERTIFICATES,
          Row.fixed(List.of()),
          Row.fixed(TlsProfile.INTERMEDIATE),
          CLIENT_CERTIFICATES,
          CLIENT_AUTHORITIES,
          Row.fixed(Duration.ZERO));

  /** No TLS. */
  public static final TlsSettings OFF = SECTION.defaults();

  /** Whether the listener speaks TLS. */
  public boolean isOn() {
    return source != Source.OFF;
  }

  /**
   * Reads the certificates of files, or makes one; those that are ordered are not among them.
   *
   * @throws IOException with one sentence: which file, what is wrong with it
   */
  public List<ServerCertificate> read(Instant now) throws IOException {
    if (source == Source.SELF_SIGNED) {
      return List.of(SelfSigned.forTrying(now));
    }
    List<ServerCertificate> read = new ArrayList<>();
    for (CertificateFiles files : certificates) {
      read.add(files.read());
    }
    if (read.isEmpty() && source != Source.ACME) {
      throw new IOException("tls.certificates: none (expected: at least one)");
    }
    return read;
  }

  /**
   * What every handshake has to keep to.
   *
   * @param protocols in the words of ALPN
   * @throws IOException with one sentence: what is wrong with the file of the authorities
   */
  public TlsPolicy policy(List<String> protocols) throws IOException {
    if (clientCertificates == Demand.NONE) {
      return new TlsPolicy(profile, ClientCertificates.NONE, protocols);
    }
    if (clientAuthorities == null) {
      throw new IOException(
          "tls.client-authorities: missing (expected: a file beside tls.client-certificates)");
    }
    return new TlsPolicy(
        profile, ClientCertificates.signedBy(clientAuthorities, clientCertificates), protocols);
  }

  /** The files that certificates and policy come from, to be read again when they change. */
  public WatchedFiles files() {
    List<Path> files = new ArrayList<>();
    certificates.forEach(each -> Collections.addAll(files, each.chain(), each.key()));
    if (clientAuthorities != null) {
      files.add(clientAuthorities);
    }
    return new WatchedFiles(files);
  }
}
