package io.kamille.core.loop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NettyNativesTest {

  @Test
  void thisProcessHasOneVersionOfAllNativeParts() {
    assertThat(NettyNatives.mismatch(NettyNatives.versions())).isNull();
  }

  @Test
  void classesThatAreNewerThanTheirLibraryAreNamed() {
    Properties versions = NettyNatives.versions();
    versions.setProperty("netty-transport-native-unix-common.version", "9.9.9.Final");

    assertThat(NettyNatives.mismatch(versions))
        .contains("netty-transport-native-unix-common=9.9.9.Final")
        .contains("netty-transport-native-epoll=");
  }

  @Test
  void aMissingLibraryIsNamed() {
    Properties versions = NettyNatives.versions();
    versions.remove("netty-transport-native-epoll.version");

    assertThat(NettyNatives.mismatch(versions)).contains("netty-transport-native-epoll=missing");
  }

  /** A process of its own: the library of a class loader that ends takes its methods from all. */
  @Test
  void noLoopBeginsWithPartsThatDiffer(@TempDir Path directory) throws Exception {
    Path versions = directory.resolve("META-INF/io.netty.versions.properties");
    Files.createDirectories(versions.getParent());
    Files.writeString(versions, "netty-transport-native-unix-common.version=9.9.9.Final\n");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path") + File.pathSeparator + directory,
                Begin.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).isNotZero();
    assertThat(said).contains("netty-transport-native-unix-common=9.9.9.Final");
  }

  /** Begins a loop. */
  static final class Begin {

    private Begin() {}

    public static void main(String[] arguments) {
      new LoopGroup(1).close();
    }
  }
}
