package io.kamille.launcher.configuration;

import io.kamille.admin.AdminSettings;
import io.kamille.admin.StateDirectory;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.tls.PemFile;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.tls.TlsSettings.Source;
import io.kamille.launcher.acme.AcmeSettings;
import io.kamille.launcher.acme.AcmeSettings.Binding;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** What must be true of certificates that are ordered. */
record AcmeChecks(SectionValues file, Problems problems) {

  /** Below these, nobody but the owner of a network can prove a name. */
  private static final List<String> NOT_PUBLIC =
      List.of("local", "internal", "localhost", "lan", "home.arpa", "test", "invalid", "example");

  void run() {
    SectionValues admin = file.one(Configuration.ADMIN).one(AdminSettings.TLS);
    if (admin.find(TlsSettings.SOURCE) == Source.ACME) {
      problems.conflict(admin, TlsSettings.SOURCE, "files, self-signed or off");
    }
    SectionValues acme = file.one(Configuration.ACME);
    SectionValues ordering = null;
    for (SectionValues listener : file.all(Configuration.LISTENERS)) {
      SectionValues tls = listener.one(ListenerSettings.TLS);
      if (tls.find(TlsSettings.SOURCE) == Source.ACME) {
        namesCanBeProved(tls, acme);
        ordering = tls;
      }
    }
    if (ordering != null) {
      theAuthorityCanBeAsked(acme);
      problems.readable(
          ordering, TlsSettings.SOURCE, "a state directory that can be written", AcmeChecks::store);
    }
  }

  private static Path store() throws IOException {
    if (!StateDirectory.isKnown()) {
      throw new IOException(StateDirectory.UNKNOWN);
    }
    return FileChecks.writable(AcmeSettings.place());
  }

  private void theAuthorityCanBeAsked(SectionValues acme) {
    if (!acme.value(AcmeSettings.TERMS_AGREED)) {
      problems.conflict(acme, AcmeSettings.TERMS_AGREED, "true, if you agree to its terms");
    }
    SectionValues binding = acme.one(AcmeSettings.ACCOUNT_BINDING);
    problems.together(binding, Binding.ID, "id", Binding.KEY_FILE, "key-file");
    problems.readable(binding, Binding.KEY_FILE, "a file with a key", Binding::key);
    problems.readable(
        acme, AcmeSettings.AUTHORITY, "a file of certificates", PemFile::certificates);
    problems.readable(
        acme,
        AcmeSettings.DNS_HOOK,
        "a program that can be run",
        hook -> hook.isEmpty() ? hook : program(hook.getFirst()));
  }

  /** One without a slash is in the search path. */
  private static Path program(String name) throws IOException {
    String search =
        name.indexOf('/') >= 0 ? "" : Objects.requireNonNullElse(System.getenv("PATH"), "");
    for (String directory : search.split(":", -1)) {
      Path program = Path.of(directory, name);
      if (Files.isRegularFile(program) && Files.isExecutable(program)) {
        return program;
      }
    }
    throw new IOException(name + ": none of this name that may be run");
  }

  private void namesCanBeProved(SectionValues tls, SectionValues acme) {
    boolean hasHook = acme.isGiven(AcmeSettings.DNS_HOOK);
    List<String> names =
        Configuration.ordered(
            tls.value(TlsSettings.NAMES),
            file.all(Configuration.ROUTES).stream().map(route -> route.find(RouteSettings.HOST)));
    if (names.isEmpty()) {
      problems.conflict(tls, TlsSettings.NAMES, "none", "a name, or a route with a host");
    }
    for (String name : names) {
      boolean isAddress = ServerCertificate.isAddress(name);
      String expected = null;
      if (AcmeSettings.isPublic(acme.value(AcmeSettings.DIRECTORY)) && !isPublic(name, isAddress)) {
        expected = "a name that everybody can look up, or acme.directory of your own authority";
      } else if (!hasHook && name.startsWith("*.")) {
        expected = "acme.dns-hook beside it, because dns-01 alone proves it";
      }
      if (expected != null) {
        problems.conflict(tls, TlsSettings.NAMES, Problems.quote(name), expected);
      }
    }
  }

  private static boolean isPublic(String name, boolean isAddress) {
    if (isAddress) {
      InetAddress address = InetAddress.ofLiteral(name);
      return !(address.isLoopbackAddress()
          || address.isSiteLocalAddress()
          || address.isLinkLocalAddress()
          || address.isAnyLocalAddress()
          || (address instanceof Inet6Address && (address.getAddress()[0] & 0xfe) == 0xfc));
    }
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.indexOf('.') > 0
        && NOT_PUBLIC.stream().noneMatch(last -> lower.endsWith("." + last));
  }
}
