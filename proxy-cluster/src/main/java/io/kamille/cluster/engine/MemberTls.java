package io.kamille.cluster.engine;

import io.kamille.cluster.settings.ClusterSettings;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** The certificates of nodes, as the TLS of the JDK takes them. */
final class MemberTls {

  private MemberTls() {}

  /** Shows our certificate, and lets in who shows one of the same authority. */
  static SSLContext context(ClusterSettings.Files files) throws IOException {
    try {
      JdkSslContext context =
          (JdkSslContext)
              SslContextBuilder.forServer(file(files.certificate()), file(files.key()))
                  .trustManager(Objects.requireNonNull(file(files.ca()), "cluster.tls.ca"))
                  .clientAuth(ClientAuth.REQUIRE)
                  .sslProvider(SslProvider.JDK)
                  .build();
      return context.context();
    } catch (IllegalArgumentException unreadable) {
      throw new IOException("cannot use cluster.tls: " + unreadable.getMessage(), unreadable);
    }
  }

  private static @Nullable File file(@Nullable Path path) {
    return path == null ? null : path.toFile();
  }
}
