// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;

/**
 * Loads the classes and resources of one library from given jars instead of the class
 * path, and all others from the parent.
 */
final class VersionClassLoader extends URLClassLoader {

	static {
		registerAsParallelCapable();
	}

	private final String library;

	/**
	 * Create a class loader.
	 * @param classPath the jars of the library
	 * @param library prefix of the names of its classes
	 */
	VersionClassLoader(String classPath, String library, ClassLoader parent) {
		super(urls(classPath), parent);
		this.library = library;
	}

	private static URL[] urls(String classPath) {
		return Arrays.stream(classPath.split(File.pathSeparator)).map((path) -> {
			if (!Files.exists(Path.of(path))) {
				throw new IllegalArgumentException("There is no '" + path + "'");
			}
			try {
				return Path.of(path).toUri().toURL();
			}
			catch (MalformedURLException ex) {
				throw new IllegalArgumentException(ex);
			}
		}).toArray(URL[]::new);
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		if (!name.startsWith(this.library)) {
			return super.loadClass(name, resolve);
		}
		synchronized (getClassLoadingLock(name)) {
			Class<?> loaded = findLoadedClass(name);
			return (loaded != null) ? loaded : findClass(name);
		}
	}

	@Override
	public URL getResource(String name) {
		return isOfLibrary(name) ? findResource(name) : super.getResource(name);
	}

	@Override
	public Enumeration<URL> getResources(String name) throws IOException {
		return isOfLibrary(name) ? Collections.enumeration(Collections.list(findResources(name)))
				: super.getResources(name);
	}

	private boolean isOfLibrary(String resource) {
		return resource.replace('/', '.').startsWith(this.library);
	}

}
