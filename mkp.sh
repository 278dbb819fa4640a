set -e
cd /work/dev && . /work/venv/bin/activate
NB=$(python -m nanobind --cmake_dir)
cmake -S . -B /work/dev/build/p -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O3 -g -DNDEBUG" -DSKBUILD_PROJECT_VERSION=0.1.0 -DLACONIC_WARNINGS_AS_ERRORS=OFF -Dnanobind_DIR=$NB -DPython_EXECUTABLE=$(which python) > /tmp/cm.log 2>&1 || tail -5 /tmp/cm.log
cmake --build build/p 2>&1 | grep -E "error|FAILED" | head -20 || true
cp build/p/_core*.so src/laconic/
