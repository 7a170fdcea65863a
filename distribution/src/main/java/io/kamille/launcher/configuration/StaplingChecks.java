package io.kamille.launcher.configuration;

import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.tls.OcspResponse;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.tls.TlsSettings.CertificateFiles;
import java.io.IOException;
import java.nio.file.Path;

/** Whether what is stapled to certificates of listeners belongs to them. */
final class StaplingChecks {

  private StaplingChecks() {}

  static void run(SectionValues file, Problems problems) {
    for (SectionValues listener : file.all(Configuration.LISTENERS)) {
      for (SectionValues tls : listener.all(ListenerSettings.TLS)) {
        tls.all(TlsSettings.CERTIFICATES).forEach(files -> check(files, problems));
      }
    }
  }

  private static void check(SectionValues files, Problems problems) {
    Path ocsp = files.find(CertificateFiles.OCSP);
    Path chain = files.find(CertificateFiles.CHAIN);
    if (ocsp == null || chain == null) {
      return;
    }
    try {
      OcspResponse.read(ocsp, chain);
    } catch (IOException unusable) {
      problems.add(
          Problem.Kind.CONFLICT,
          files.position(CertificateFiles.OCSP),
          files.path(CertificateFiles.OCSP),
          Problems.quote(ocsp.toString()),
          "an OCSP response for this certificate (" + unusable.getMessage() + ")");
    }
  }
}
