package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import java.security.GeneralSecurityException;
import org.junit.jupiter.api.Test;

/** What a request says of the certificate of its client (RFC 9440). */
class ClientCertificateTest {

  private static final ClientCertificate SHOWN = new ClientCertificate(":AA==:", "CN=a");

  @Test
  void onlyOurWordCounts() {
    Fields request = Fields.of("client-cert", ":forged:", "Client-Cert-Subject", "CN=b", "A", "b");
    ClientCertificate.tell(SHOWN, request);
    assertThat(request.all(FieldName.CLIENT_CERT)).containsExactly(":AA==:");
    assertThat(request.all(FieldName.CLIENT_CERT_SUBJECT)).containsExactly("CN=a");
    ClientCertificate.tell(null, request);
    assertThat(request.size()).isEqualTo(1);
  }

  @Test
  void noSubjectEndsALine() throws GeneralSecurityException {
    var authority = new Certificates("a\r\nX-Admin: 1, ü");
    assertThat(ClientCertificate.of(authority.authority()).subject())
        .isPrintable()
        .isEqualTo("CN=a\\0d\\0aX-Admin: 1\\, \\c3\\bc");
  }
}
