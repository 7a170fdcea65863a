package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

  @Test
  void noLoopBeginsWithPartsThatDiffer(@TempDir Path directory) throws Exception {
    Path versions = directory.resolve("META-INF/io.netty.versions.properties");
    Files.createDirectories(versions.getParent());
    Files.writeString(versions, "netty-transport-native-unix-common.version=9.9.9.Final\n");
    List<URL> all = new ArrayList<>();
    for (String part : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      all.add(Path.of(part).toUri().toURL());
    }
    all.add(directory.toUri().toURL());
    ClassLoader parent = ClassLoader.getPlatformClassLoader();
    try (var another = new URLClassLoader(all.toArray(URL[]::new), parent)) {
      Constructor<?> loops = another.loadClass(LoopGroup.class.getName()).getConstructor(int.class);
      assertThatThrownBy(() -> loops.newInstance(1))
          .rootCause()
          .hasMessageContaining("netty-transport-native-unix-common=9.9.9.Final");
    }
  }
}
