package zombie;

import java.io.File;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import javax.script.ScriptEngine;
import javax.script.ScriptEngineManager;

/** Where players come from: a folder of classes, or a script. Each match gets one that remembers nothing. */
final class Bot {
    private final File file;
    private final String wanted;
    private String name;
    private Object clojure;

    /** What is in a file or folder: the class of that name, or what a script registers (under that name, if there are several). */
    Bot(String path, String wanted) {
        this.file = new File(path);
        this.wanted = wanted;
    }

    /** The name that its copies carry, once it was loaded. */
    String name() {
        return name;
    }

    Player load() throws Throwable {
        PlayerRegistry.clear();
        if (file.isDirectory()) {
            ClassLoader loader = new Classes(file.toURI().toURL());
            Thread.currentThread().setContextClassLoader(loader);
            Class<?> type = Class.forName(wanted, true, loader);
            name = type.getSimpleName();
            var constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            return (Player) constructor.newInstance();
        }
        String extension = file.getName().substring(file.getName().lastIndexOf('.') + 1);
        switch (extension) {
            case "clj": runClojure(); break;
            case "js": runRhino(); break;
            default: runEngine(extension);
        }
        Map<String, Player> players = PlayerRegistry.living();
        if (players.size() == 1) {
            name = players.keySet().iterator().next();
        } else {
            name = wanted;
        }
        Player player = players.get(name);
        if (player != null) return player;
        throw new IllegalStateException(file.getName() + " registered "
                + (players.isEmpty() ? "no player" : String.join(", ", players.keySet()) + ", but not " + wanted));
    }

    /** The bot's classes. Published bots keep what they know in statics, which live as long as their loader. */
    private static final class Classes extends URLClassLoader {
        Classes(URL folder) {
            super(new URL[] {folder}, Bot.class.getClassLoader());
        }

        /** Its own classes come first, so that libraries are opened only for those who use them. */
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                boolean isOwn = !name.startsWith("zombie.") && findResource(name.replace('.', '/') + ".class") != null;
                if (!isOwn) return super.loadClass(name, resolve);
                Class<?> known = findLoadedClass(name);
                return known == null ? findClass(name) : known;
            }
        }
    }

    /** What is not UTF-8 is replaced, as the contest did. */
    private Reader source() throws Exception {
        return new InputStreamReader(new FileInputStream(file), StandardCharsets.UTF_8);
    }

    private void runEngine(String extension) throws Exception {
        // JRuby has one runtime for all its engines otherwise.
        System.setProperty("org.jruby.embed.localcontext.scope", "singlethread");
        ScriptEngineManager engines = new ScriptEngineManager(Bot.class.getClassLoader());
        ScriptEngine engine = engines.getEngineByExtension(extension);
        if (engine == null) throw new IllegalStateException("no script engine runs ." + extension);
        try (Reader source = source()) {
            engine.eval(source);
        }
    }

    /** What the engine of the contest's JDK had beside Rhino itself. */
    private static final String PRELUDE = "function print(text) { java.lang.System.out.print(String(text)) }\n"
            + "function println(text) { java.lang.System.out.println(text === undefined ? '' : String(text)) }\n";

    /**
     * Its engine would make objects of classes that a script keeps in variables ({@code var Move = Packages.zombie.Move}), and has
     * no importPackage. By reflection, since Rhino may not be there.
     */
    private void runRhino() throws Exception {
        final int es6 = 200;
        Class<?> type = Class.forName("org.mozilla.javascript.Context");
        Class<?> scopes = Class.forName("org.mozilla.javascript.Scriptable");
        Object context = type.getMethod("enter").invoke(null);
        try (Reader source = source()) {
            type.getMethod("setLanguageVersion", int.class).invoke(context, es6);
            Object scope = Class.forName("org.mozilla.javascript.ImporterTopLevel").getConstructor(type).newInstance(context);
            type.getMethod("evaluateString", scopes, String.class, String.class, int.class, Object.class)
                    .invoke(context, scope, PRELUDE, "prelude", 1, null);
            type.getMethod("evaluateReader", scopes, Reader.class, String.class, int.class, Object.class)
                    .invoke(context, scope, source, file.getName(), 1, null);
        } finally {
            type.getMethod("exit").invoke(null);
        }
    }

    /**
     * Clojure has no engine: a script is loaded into a namespace of its own, and what scripts before it have made is forgotten. By
     * reflection, since Clojure may not be there.
     */
    private void runClojure() throws Exception {
        Class<?> function = Class.forName("clojure.lang.IFn");
        var invoke = function.getMethod("invoke", Object.class);
        if (clojure == null) {
            Class<?> api = Class.forName("clojure.java.api.Clojure");
            // Clojure's own libraries stay: they are compiled, and loaded once only.
            String load = "(let [known (set (all-ns))] (fn [reader]"
                    + " (doseq [n (map ns-name (remove known (all-ns))) :when (not (.startsWith (str n) \"clojure.\"))] (remove-ns n))"
                    + " (binding [*ns* (create-ns (gensym \"match\"))]"
                    + " (refer (quote clojure.core)) (load-reader reader))))";
            Object eval = api.getMethod("var", Object.class, Object.class).invoke(null, "clojure.core", "eval");
            clojure = invoke.invoke(eval, api.getMethod("read", String.class).invoke(null, load));
        }
        try (Reader source = source()) {
            invoke.invoke(clojure, source);
        }
    }
}
