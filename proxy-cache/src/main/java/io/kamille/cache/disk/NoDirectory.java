package io.kamille.cache.disk;

import java.io.IOException;
import java.util.List;

/** A directory without files, that takes none. */
enum NoDirectory implements StoreDirectory {
  INSTANCE;

  @Override
  public List<String> names() {
    return List.of();
  }

  @Override
  public StoreFile create(String name) throws IOException {
    throw new IOException("there is no directory");
  }

  @Override
  public StoreFile open(String name) throws IOException {
    throw new IOException("there is no directory");
  }

  @Override
  public void delete(String name) {}

  @Override
  public void close() {}
}
