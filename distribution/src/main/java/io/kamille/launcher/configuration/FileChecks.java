package io.kamille.launcher.configuration;

import io.kamille.admin.AdminSettings;
import io.kamille.admin.auth.TokenFile;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.log.AccessLogSettings;
import io.kamille.core.log.LogSettings;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.tls.PemFile;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.core.tls.ServerTls;
import io.kamille.core.tls.TlsPolicy;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.tls.TlsSettings.CertificateFiles;
import io.kamille.core.tls.TlsSettings.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Whether a start can use what listeners, logs, disk and control plane name: certificates are read
 * and opened as it does. Nothing is written.
 */
record FileChecks(SectionValues file, Problems problems) {

  /** File systems in which not even root can make a file, whatever their modes say. */
  private static final List<Path> OF_KERNEL = List.of(Path.of("/proc"), Path.of("/sys"));

  void run() {
    for (SectionValues listener : file.all(Configuration.LISTENERS)) {
      tlsCanBeOpened(listener.one(ListenerSettings.TLS), TlsSettings.SECTION);
    }
    SectionValues admin = file.one(Configuration.ADMIN);
    tlsCanBeOpened(admin.one(AdminSettings.TLS), TlsSettings.ADMIN_SECTION);
    if (admin.isGiven(AdminSettings.TOKEN_FILE)) {
      problems.readable(
          admin,
          AdminSettings.TOKEN_FILE,
          "a file with a token, or one that can be made",
          token ->
              Files.exists(token)
                  ? TokenFile.check(token)
                  : writable(
                      Objects.requireNonNullElse(token.toAbsolutePath().getParent(), token)));
    }
    SectionValues log = file.one(Configuration.LOGS).one(LogSettings.ACCESS);
    if (log.isGiven(AccessLogSettings.OUTPUT)) {
      problems.readable(
          log,
          AccessLogSettings.OUTPUT,
          "a file that can be written",
          path -> path.isEmpty() ? path : appendable(path.get().toAbsolutePath()));
    }
    SectionValues disk = file.one(Configuration.CACHE).one(SharedCacheSettings.DISK);
    if (disk.isGiven(DiskSettings.PATH)) {
      problems.readable(
          disk, DiskSettings.PATH, "a directory that can be written", FileChecks::writable);
    }
  }

  private void tlsCanBeOpened(SectionValues tls, Section<TlsSettings> section) {
    Source source = tls.find(TlsSettings.SOURCE);
    if (source == null || source == Source.OFF || problems.hasRefused(tls.path())) {
      return;
    }
    List<ServerCertificate> certificates = new ArrayList<>();
    boolean isRight = true;
    if (source != Source.SELF_SIGNED) {
      for (SectionValues files : tls.all(TlsSettings.CERTIFICATES)) {
        CertificateFiles both = CertificateFiles.SECTION.record(files);
        isRight &=
            problems.readable(
                    files,
                    CertificateFiles.CHAIN,
                    "a certificate that can be used",
                    () -> PemFile.certificates(both.chain()))
                && problems.readable(
                    files,
                    CertificateFiles.KEY,
                    "the key of a certificate that can be used",
                    () -> certificates.add(both.read()));
      }
    }
    if (isRight) {
      TlsSettings settings = section.record(tls);
      Setting<?> named =
          tls.isGiven(TlsSettings.CLIENT_AUTHORITIES)
              ? TlsSettings.CLIENT_AUTHORITIES
              : TlsSettings.SOURCE;
      problems.readable(
          tls, named, "certificates that can be used", () -> opened(settings, certificates));
    }
  }

  /** As the start opens it. */
  private static Object opened(TlsSettings settings, List<ServerCertificate> certificates)
      throws IOException {
    TlsPolicy policy = settings.policy(List.of("http/1.1"));
    List<ServerCertificate> all =
        certificates.isEmpty() ? settings.read(Instant.now()) : certificates;
    if (!all.isEmpty()) {
      ServerTls.check(policy, all);
    }
    return policy;
  }

  private static Path appendable(Path file) throws IOException {
    Path directory = file.getParent();
    if (directory == null || Files.isDirectory(file)) {
      throw new IOException("it is a directory");
    }
    if (!Files.exists(directory)) {
      throw new IOException("its directory does not exist");
    }
    return Files.exists(file) ? permitted(file) : writable(directory);
  }

  /** A directory that is there, or that can be made in the nearest one that is. */
  static Path writable(Path directory) throws IOException {
    Path there = directory.toAbsolutePath();
    while (there.getParent() != null && !Files.exists(there)) {
      there = there.getParent();
    }
    if (!Files.isDirectory(there)) {
      throw new IOException(there + " is no directory");
    }
    return permitted(there);
  }

  /** The kernel is asked: a file that is made to try would be a change. */
  private static Path permitted(Path path) throws IOException {
    boolean isOfKernel = Files.isDirectory(path) && OF_KERNEL.stream().anyMatch(path::startsWith);
    if (isOfKernel || !Files.isWritable(path)) {
      throw new IOException("no permission to write to " + path);
    }
    return path;
  }
}
